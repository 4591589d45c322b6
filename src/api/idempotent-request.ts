/** The header Idempotency-Key of a request: the claim it makes, or its first response. */
import type { Request, Response } from 'express';
import type { Sql } from '../core/db/client.ts';
import type { StoredResponse } from '../core/idempotency/idempotency.sql.ts';
import { assertSameRequest, claimKey } from '../core/idempotency/idempotency.ts';
import type { ApiKey } from '../core/keys/keys.sql.ts';
import type { BatchView } from '../jobs/batch/batch-view.ts';
import type { ApiContext } from './api-context.ts';

export interface IdempotentRequest {
  /** The first response, to be compared and replayed; null for a new request. */
  stored: StoredResponse | null;
  /** Stores the response in the transaction of the work; does nothing for a request without a key. */
  respond(tx: Sql, response: StoredResponse): Promise<void>;
  /** Call it at the end in any case. */
  release(): Promise<void>;
}

const unclaimed: IdempotentRequest = {
  stored: null,
  respond: async () => {},
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
  if ('stored' in claimed) return { ...unclaimed, stored: claimed.stored };
  return { stored: null, ...claimed.claim };
}

/** Sends the answer that the same request had before. Throws 422 when it was another request. */
export function replay(response: Response, answered: StoredResponse, requestSha256: Buffer): void {
  assertSameRequest(answered, requestSha256);
  response.setHeader('Idempotent-Replayed', 'true');
  response.status(answered.status).json(answered.body);
}

/** The same for the answer to a request that made a batch, with the header that says where it is. */
export function replayCreated(response: Response, answered: StoredResponse, sha256: Buffer): void {
  assertSameRequest(answered, sha256);
  response.location((answered.body as BatchView).links.self);
  replay(response, answered, sha256);
}
