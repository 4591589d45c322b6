/**
 * Runs the reads of a person search: in the share of the account, until the caller disconnects. A search that times out
 * costs its key more requests than one, because it took the time of many.
 */

import type { Response } from 'express';
import type { Owner } from '../core/accounts/owner.ts';
import type { Sql } from '../core/db/client.ts';
import { type ApiKey, findRequestsOf } from '../core/keys/keys.sql.ts';
import { AppError } from '../core/lib/errors.ts';
import { chargeUnfinishedSearch } from '../core/limits/limits.ts';
import type { ApiContext } from './http/api-context.ts';
import { clientGone } from './http/client-gone.ts';
import { assertResponsesRead } from './http/held-bytes.ts';
import { ownerOf } from './owner-of.ts';

interface SearchCaller {
  context: Pick<ApiContext, 'readSearch' | 'sql' | 'limiter' | 'config' | 'log'>;
  key: ApiKey;
  response: Response;
}

/** Codes of searches that timed out. */
const timeoutCodes: readonly string[] = ['search_timeout', 'use_cursor'];

/**
 * Resolves as `read` does. Throws as `ReadSearch` and, before anything is read or charged, as `assertResponsesRead` do, and 499
 * `client_gone` after the caller disconnected.
 */
export async function runSearch<T>(
  { context, key, response }: SearchCaller,
  read: (graph: Sql, owner: Owner) => Promise<T>,
): Promise<T> {
  const owner = ownerOf(key);
  const gone = clientGone(response);
  let startedAt: number | null = null;
  try {
    return await context.readSearch(owner, gone, (graph) => {
      // A minute's pages may be requested at once, and each has megabytes.
      assertResponsesRead(key.accountId);
      startedAt ??= performance.now();
      return read(graph, owner);
    });
  } catch (error) {
    const isTimeout = error instanceof AppError && timeoutCodes.includes(error.code);
    if (startedAt !== null && (isTimeout || gone.aborted)) {
      const elapsed = isTimeout ? context.config.searchTimeoutMs : performance.now() - startedAt;
      const share = elapsed / context.config.searchTimeoutMs;
      // A failure to count must not change the response.
      await findRequestsOf(context.sql, key.id)
        .then((requestsOf) =>
          chargeUnfinishedSearch(context.limiter, { ...key, requestsOf }, share),
        )
        .catch((err: unknown) =>
          context.log.warn({ err }, 'unfinished search not charged to its key'),
        );
    }
    throw gone.aborted ? gone.reason : error;
  }
}
