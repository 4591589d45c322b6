/** The Idempotency-Key of a request: its claim, or the stored response to the first one. */
import type { Request } from 'express';
import type { Sql } from '../../core/db/client.ts';
import type { StoredResponse } from '../../core/idempotency/idempotency.sql.ts';
import { claimKey } from '../../core/idempotency/idempotency.ts';
import type { ApiKey } from '../../core/keys/keys.sql.ts';
import { oweUnmeteredCalls } from '../../core/limits/limits.ts';
import type { ApiContext } from './api-context.ts';

/**
 * Stored bytes of an unmetered call. The response of a longer one, which repeats a header or a filter of the caller, is stored
 * for a day and counts as several calls.
 */
const CALL_BYTES = 4096;
/** A longer path has a text in place of an id, which no object has and no index holds. */
const PATH_LENGTH_MAX = 500;

/** A stored response. */
export type KeptResponse = Pick<StoredResponse, 'status' | 'body'>;

interface IdempotentRequest {
  /** The stored response, to be compared and replayed; null for a new request. */
  kept: StoredResponse | null;
  /** Stores the response in the transaction of the work; does nothing for a request without a key. */
  keep(tx: Sql, response: () => StoredResponse): Promise<void>;
  /** Releases the claim. Call it in any case. */
  release(): Promise<void>;
}

/** A request without a key. */
export const unclaimed: IdempotentRequest = {
  kept: null,
  keep: async () => {},
  release: async () => {},
};

/** Claims the request's key, at this path, before its body is read. Throws as `claimKey`. */
export async function claimRequest(
  context: ApiContext,
  key: ApiKey,
  request: Request,
  { path, isMetered }: { path: string; isMetered: boolean },
): Promise<IdempotentRequest> {
  const header = request.get('Idempotency-Key');
  if (header === undefined || path.length > PATH_LENGTH_MAX) return unclaimed;
  const claimed = await claimKey(context.sql, {
    accountId: key.accountId,
    live: key.mode === 'live',
    method: request.method,
    path,
    key: header,
  });
  if ('stored' in claimed) return { ...unclaimed, kept: claimed.stored };
  const { claim } = claimed;
  let bytes = 0;
  return {
    kept: null,
    async keep(tx, response) {
      const stored = response();
      // A metered call is bounded by its key, and most are paid.
      if (!isMetered) bytes = Buffer.byteLength(JSON.stringify(stored.body) ?? '');
      await claim.respond(tx, stored);
    },
    async release() {
      await claim.release();
      await oweUnmeteredCalls(context.limiter, key, Math.ceil(bytes / CALL_BYTES) - 1);
    },
  };
}
