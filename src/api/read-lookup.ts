/** Reads of lookups, of which an account with many keys may send thousands at once: they are free. */
import type { Sql } from '../core/db/client.ts';
import { openShare } from '../core/limits/shares.ts';
import { clientGone } from './http/client-gone.ts';
import type { RouteInput } from './http/define-route.ts';

const inLookupTurn = openShare({
  name: 'lookups',
  // No account waits for another one.
  inFlightMax: Number.POSITIVE_INFINITY,
  // Half of the connections of a process.
  accountInFlightMax: 4,
  // The limits of keys bound them.
  accountWaitingMax: Number.POSITIVE_INFINITY,
  // Before the connection is cut as stalled.
  waitMsMax: 50_000,
});

/** Reads the graph of the caller's key in the account's turn, from a replica where there is one. Throws as a share does. */
export function readLookup<T>(
  { context, key, response }: Pick<RouteInput, 'context' | 'key' | 'response'>,
  read: (graph: Sql) => Promise<T>,
): Promise<T> {
  const { replicas, sql, testSql } = context;
  return inLookupTurn(key.accountId, clientGone(response), () =>
    key.mode === 'live' ? replicas.read('any', sql, read) : read(testSql),
  );
}
