/** The Idempotency-Key of a request: its claim, or the stored response to the first one. */
import type { Request } from 'express';
import type { Sql } from '../core/db/client.ts';
import type { StoredResponse } from '../core/idempotency/idempotency.sql.ts';
import { claimKey } from '../core/idempotency/idempotency.ts';
import type { ApiKey } from '../core/keys/keys.sql.ts';
import type { ApiContext } from './api-context.ts';

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

/** Claims the request's key before its body is read. Throws as `claimKey`. */
export async function claimRequest(
  context: ApiContext,
  key: ApiKey,
  request: Request,
): Promise<IdempotentRequest> {
  const header = request.get('Idempotency-Key');
  if (header === undefined) return unclaimed;
  const claimed = await claimKey(context.sql, {
    accountId: key.accountId,
    live: key.mode === 'live',
    method: request.method,
    path: request.path,
    key: header,
  });
  if ('stored' in claimed) return { ...unclaimed, kept: claimed.stored };
  const { claim } = claimed;
  return {
    kept: null,
    keep: (tx, response) => claim.respond(tx, response()),
    release: claim.release,
  };
}
