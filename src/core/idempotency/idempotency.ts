/**
 * Idempotent requests: sent twice, done once. The key is claimed before the body is read; the response is stored
 * in the transaction of the work. After a crash the work is either done and has its response, or the claim expires
 * and the next attempt does it.
 */

import { createHash } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import type { Database, Sql } from '../db/client.ts';
import { type AppError, conflict, invalidParameter, unprocessable } from '../lib/errors.ts';
import {
  deleteClaim,
  extendClaim,
  findResponse,
  forgetPeople,
  type HeldClaim,
  type IdempotencyScope,
  insertClaim,
  type StoredResponse,
  storeResponse,
} from './idempotency.sql.ts';

const CLAIM_SECONDS = 30;
const EXTEND_EVERY_MS = 10_000;
const KEY_LENGTH_MAX = 255;

/** The right to respond to a key. */
export interface Claim {
  /** Stores the response; call it in the transaction of the work. Throws when the claim was lost. */
  respond(tx: Sql, response: StoredResponse): Promise<void>;
  /** Releases a claim without a response; does nothing after one. */
  release(): Promise<void>;
}

/**
 * Claims the key, or finds its first response. Throws `AppError` 409 `idempotency_in_progress` while another
 * request with the key runs, and 400 for a key that is empty or too long.
 */
export async function claimKey(
  sql: Database,
  scope: IdempotencyScope,
): Promise<{ claim: Claim } | { stored: StoredResponse }> {
  if (scope.key.length === 0 || scope.key.length > KEY_LENGTH_MAX) throw badKey();
  const held = { ...scope, id: uuidv7() };
  if (await insertClaim(sql, held, CLAIM_SECONDS)) return { claim: holdClaim(sql, held) };
  const stored = await findResponse(sql, scope);
  if (stored !== null) return { stored };
  throw conflict(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is in progress. Send it again in a few seconds.',
  );
}

function holdClaim(sql: Database, held: HeldClaim): Claim {
  const timer = setInterval(() => {
    extendClaim(sql, held, CLAIM_SECONDS).catch(() => {
      // The claim then expires, and storing the response fails.
    });
  }, EXTEND_EVERY_MS);
  return {
    async respond(tx, response) {
      if (await storeResponse(tx, held, response)) return;
      throw conflict(
        'idempotency_in_progress',
        'Another request with this Idempotency-Key took over. Send it again.',
      );
    },
    async release() {
      clearInterval(timer);
      await deleteClaim(sql, held);
    },
  };
}

/** Throws `AppError` 422 `idempotency_key_reused` unless the response belongs to this very request. */
export function assertSameRequest(stored: StoredResponse, requestSha256: Buffer): void {
  if (stored.requestSha256.equals(requestSha256)) return;
  throw unprocessable(
    'idempotency_key_reused',
    'This Idempotency-Key was used for a different request. Use a new key for each new request.',
  );
}

/** Hashes what makes two requests equal: their options and the SHA-256 of the file, if any. */
export function requestHash(options: Record<string, unknown>, fileSha256: Buffer | null): Buffer {
  const sorted = Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256').update(JSON.stringify(sorted));
  return (fileSha256 === null ? hash : hash.update(fileSha256)).digest();
}

/** Clears stored responses that show erased people. Returns how many. */
export function deleteResponsesAbout(
  sql: Sql,
  live: boolean,
  ids: readonly number[],
): Promise<number> {
  return forgetPeople(sql, live, ids);
}

function badKey(): AppError {
  const message = `must have 1 to ${KEY_LENGTH_MAX} characters`;
  return invalidParameter('Idempotency-Key', message);
}
