/**
 * Bounds the bytes that wait in memory for clients: request bodies, from the first byte to the end of the response, and
 * responses that are not read yet. Clients decide how many there are, and how slowly they arrive and are read.
 */
import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import { must } from '../../core/lib/assert.ts';
import { type AppError, notNow } from '../../core/lib/errors.ts';
import { tooManyOpen } from '../../core/limits/limits.ts';
import { networkOf } from './network-of.ts';
import { accountOf } from './request-log.ts';

const MEBIBYTE = 1024 * 1024;
/** Four bodies of the maximum length, which take several times as much when parsed, and as many bytes of responses. */
const OWNER_BYTES_MAX = 16 * MEBIBYTE;
const PROCESS_BYTES_MAX = 64 * MEBIBYTE;
/** Responses that are asked for at once, at their longest: most are far shorter. */
const OWNER_POSSIBLE_BYTES_MAX = 64 * MEBIBYTE;
const PROCESS_POSSIBLE_BYTES_MAX = 128 * MEBIBYTE;

/** Bytes by account, or by network for a call without a key. */
const held = new Map<string, number>();
let heldInAll = 0;

/**
 * Returns a function that counts more bytes of this request's body as held. It throws `AppError` 429 `rate_limited`
 * at the maximum of the account, or of the network of a call without a key, and 503 `unavailable` at that of the process.
 */
export function holdBody(request: Request): (bytes: number) => void {
  const response = must(request.res, 'response of the request');
  const owner = accountOf(response) ?? networkOf(request);
  let bytesHeld = 0;
  const add = (bytes: number) => {
    const left = (held.get(owner) ?? 0) + bytes;
    if (left > 0) held.set(owner, left);
    else held.delete(owner);
    heldInAll += bytes;
    bytesHeld += bytes;
  };
  response.once('close', () => add(-bytesHeld));
  return (bytes) => {
    const ofOwner = (held.get(owner) ?? 0) + bytes;
    if (ofOwner > OWNER_BYTES_MAX) {
      throw tooManyOpen('bytes of request bodies', OWNER_BYTES_MAX);
    }
    // No more than the process has left: four owners would keep all of it from the others.
    if (ofOwner > PROCESS_BYTES_MAX - heldInAll) throw tooManyBodies();
    // A closed connection would not release them.
    if (!response.destroyed) add(bytes);
  };
}

/** The open responses of each account, with the bytes that each may have before it is written. */
const responses = new Map<string, Map<ServerResponse, number>>();

/**
 * Tracks a response of the account until it is closed; until it is written it counts as `bytesMax`, because many may be
 * requested before the first one is. Throws `AppError` 429 `rate_limited` when the account has left too many bytes of
 * earlier responses unread: a later refusal could come after a charge. For a response that may be long, throws 503
 * `unavailable` when the account has as much as all accounts together have left, so that a further one always gets some.
 */
export function holdResponse(accountId: string, response: ServerResponse, bytesMax: number): void {
  const open = responses.get(accountId) ?? new Map<ServerResponse, number>();
  const own = bytesOf(open);
  refuseUnread(own);
  if (own.possible + bytesMax > OWNER_POSSIBLE_BYTES_MAX) {
    throw tooManyOpen('bytes of responses', OWNER_POSSIBLE_BYTES_MAX);
  }
  if (bytesMax > 0) {
    const all = bytesOfAll();
    const possible = own.possible + all.possible + bytesMax;
    if (own.unread + all.unread > PROCESS_BYTES_MAX || possible > PROCESS_POSSIBLE_BYTES_MAX) {
      throw tooManyResponses();
    }
  }
  if (response.destroyed) return;
  responses.set(accountId, open.set(response, bytesMax));
  response.once('close', () => {
    open.delete(response);
    if (open.size === 0 && responses.get(accountId) === open) responses.delete(accountId);
  });
}

/**
 * Call it before a free response is written, and before a search reads: hundreds may have been requested before the first one
 * was. Throws as `holdResponse`, but 503 only when the account has left a response unread.
 */
export function assertResponsesRead(accountId: string): void {
  const own = bytesOf(responses.get(accountId) ?? new Map());
  refuseUnread(own);
  if (own.unread > 0 && own.unread + bytesOfAll().unread > PROCESS_BYTES_MAX) {
    throw tooManyResponses();
  }
}

/** Bytes that were written and not read, and these with what the other responses may come to. */
interface ResponseBytes {
  unread: number;
  possible: number;
}

function refuseUnread({ unread }: ResponseBytes): void {
  if (unread > OWNER_BYTES_MAX) throw tooManyOpen('bytes of unread responses', OWNER_BYTES_MAX);
}

function bytesOfAll(): ResponseBytes {
  let unread = 0;
  let possible = 0;
  for (const open of responses.values()) {
    const each = bytesOf(open);
    unread += each.unread;
    possible += each.possible;
  }
  return { unread, possible };
}

function bytesOf(open: ReadonlyMap<ServerResponse, number>): ResponseBytes {
  let unread = 0;
  let possible = 0;
  for (const [response, bytesMax] of open) {
    const { writableEnded, writableLength } = response;
    unread += writableLength;
    possible += writableEnded ? writableLength : Math.max(writableLength, bytesMax);
  }
  return { unread, possible };
}

function tooManyResponses(): AppError {
  return notNow(
    'unavailable',
    'Too many responses are waiting to be read. Send the call again in a moment.',
  );
}

function tooManyBodies(): AppError {
  return notNow(
    'unavailable',
    'Too many request bodies are being read. Send the call again in a moment.',
  );
}
