/**
 * Requests that may be sent twice and happen once. The key is claimed before the body is read; the
 * answer is stored in the transaction that does the work, so after a crash the work is either done and
 * answered, or the claim runs out and the next attempt does it.
 */

import { createHash } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import type { Database, Sql } from '../db/client.ts';
import { AppError } from '../lib/errors.ts';
import {
  deleteClaim,
  extendClaim,
  findAnswer,
  forgetPeople,
  type IdempotencyScope,
  insertClaim,
  type StoredAnswer,
  storeAnswer,
} from './idempotency.sql.ts';

const CLAIM_SECONDS = 30;
const EXTEND_EVERY_MS = 10_000;
const KEY_LENGTH_MAX = 255;

/** The right to answer a key. */
export interface Claim {
  /** Stores the answer; call it in the transaction of the work. Throws when the claim was lost. */
  answer(tx: Sql, answer: StoredAnswer): Promise<void>;
  /** Gives up what was not answered; harmless after an answer. */
  release(): Promise<void>;
}

/**
 * Claims the key, or finds what was answered before. Throws `AppError` 409 `idempotency_in_progress`
 * while another request with the key runs, and 400 for a key that is empty or too long.
 */
export async function claimKey(
  sql: Database,
  scope: IdempotencyScope,
): Promise<{ claim: Claim } | { answered: StoredAnswer }> {
  if (scope.key.length === 0 || scope.key.length > KEY_LENGTH_MAX) throw badKey();
  const id = uuidv7();
  if (await insertClaim(sql, scope, id, CLAIM_SECONDS)) return { claim: holdClaim(sql, id) };
  const answered = await findAnswer(sql, scope);
  if (answered !== null) return { answered };
  throw new AppError({
    code: 'idempotency_in_progress',
    status: 409,
    message: 'A request with this Idempotency-Key is under way. Send it again in a few seconds.',
  });
}

function holdClaim(sql: Database, id: string): Claim {
  const timer = setInterval(() => {
    extendClaim(sql, id, CLAIM_SECONDS).catch(() => {
      // The claim runs out by itself then, and storing the answer notices.
    });
  }, EXTEND_EVERY_MS);
  return {
    async answer(tx, answer) {
      if (await storeAnswer(tx, id, answer)) return;
      throw new AppError({
        code: 'idempotency_in_progress',
        status: 409,
        message: 'Another request with this Idempotency-Key took over. Send it again.',
      });
    },
    async release() {
      clearInterval(timer);
      await deleteClaim(sql, id);
    },
  };
}

/** Throws `AppError` 422 `idempotency_key_reused` unless the answer was to this very request. */
export function assertSameRequest(answered: StoredAnswer, requestSha256: Buffer): void {
  if (answered.requestSha256.equals(requestSha256)) return;
  throw new AppError({
    code: 'idempotency_key_reused',
    status: 422,
    message: 'This Idempotency-Key was used for another request. Use a new key for a new request.',
  });
}

/** What makes two requests the same: their options and the SHA-256 of the file, where there is one. */
export function requestHash(options: Record<string, unknown>, fileSha256: Buffer | null): Buffer {
  const sorted = Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256').update(JSON.stringify(sorted));
  return (fileSha256 === null ? hash : hash.update(fileSha256)).digest();
}

/** Clears kept answers that show people who were erased. Returns how many. */
export function forgetAnswersAbout(
  sql: Sql,
  live: boolean,
  ids: readonly number[],
): Promise<number> {
  return forgetPeople(sql, live, ids);
}

function badKey(): AppError {
  const message = `must have 1 to ${KEY_LENGTH_MAX} characters`;
  return new AppError({
    code: 'invalid_parameter',
    status: 400,
    message: `Idempotency-Key ${message}`,
    errors: [{ field: 'Idempotency-Key', message }],
  });
}
