/**
 * Bounds the bytes that wait in memory for clients: request bodies, from the first byte to the end of the response, and
 * responses that are not read yet. Clients decide how many there are, and how slowly they arrive and are read.
 */
import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import { must } from '../core/lib/assert.ts';
import { type AppError, unavailable } from '../core/lib/errors.ts';
import { tooManyOpen } from '../core/limits/limits.ts';
import { networkOf } from './network-of.ts';
import { isCounted } from './open-responses.ts';
import { accountOf } from './request-log.ts';

const MEBIBYTE = 1024 * 1024;
/** Four bodies of the maximum length, which take several times as much when parsed, and as many bytes of responses. */
const OWNER_BYTES_MAX = 16 * MEBIBYTE;
const PROCESS_BYTES_MAX = 64 * MEBIBYTE;

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
    if ((held.get(owner) ?? 0) + bytes > OWNER_BYTES_MAX) {
      throw tooManyOpen('bytes of request bodies', OWNER_BYTES_MAX);
    }
    if (heldInAll + bytes > PROCESS_BYTES_MAX) throw tooManyBodies();
    // A closed connection would not release them.
    if (!response.destroyed) add(bytes);
  };
}

/** The open responses of each account. */
const responses = new Map<string, Set<ServerResponse>>();

/**
 * Tracks a response of the account until it is closed. Throws `AppError` 429 `rate_limited` when the account has left
 * too many bytes of earlier responses unread: a later refusal could come after a charge. Downloads and event streams
 * do not count here, because their number is limited and each has a part of a file at most.
 */
export function holdResponse(accountId: string, response: ServerResponse): void {
  const open = responses.get(accountId) ?? new Set();
  let unread = 0;
  for (const other of open) if (!isCounted(other)) unread += other.writableLength;
  if (unread > OWNER_BYTES_MAX) throw tooManyOpen('bytes of unread responses', OWNER_BYTES_MAX);
  if (response.destroyed) return;
  responses.set(accountId, open.add(response));
  response.once('close', () => {
    open.delete(response);
    if (open.size === 0 && responses.get(accountId) === open) responses.delete(accountId);
  });
}

function tooManyBodies(): AppError {
  return unavailable(
    'unavailable',
    'Too many request bodies are being read. Send the call again in a moment.',
  );
}
