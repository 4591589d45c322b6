/**
 * Routes the reads of a search: to a replica that has replayed every opt-out and every change of the account's
 * do-not-contact list that the primary knows, otherwise to the primary. So a person who was suppressed or listed
 * before the call is never found, counted or charged, however far the replicas lag. Each account has its share of
 * a process's searches.
 */

import type { Owner } from '../accounts/owner.ts';
import type { Config } from '../config.ts';
import { readCancellable } from '../db/cancellable.ts';
import type { Sql } from '../db/client.ts';
import { isCancelled } from '../db/pg-errors.ts';
import { ReplicaBehind, type Replicas } from '../db/replicas.ts';
import { openShare } from '../limits/shares.ts';
import { searchTimeout } from './page.ts';
import { type Exclusions, readExclusions } from './search.sql.ts';

export interface SearchConnections {
  sql: Sql;
  searchSql: Sql;
  testSearchSql: Sql;
  /** Ends statements on the primary. */
  watchSql: Sql;
  replicas: Replicas;
}

/** Maximum number of concurrent searches of one account in a process. */
const ACCOUNT_IN_FLIGHT_MAX = 2;
/** A key may send its 60 requests a minute all at once: none of them is refused for that. */
const ACCOUNT_WAITING_MAX = 64;
const WAIT_MS_MAX = 2_000;

/**
 * Runs a read for the owner when its turn comes; twice when a replica fails during it. A read uses one connection,
 * in one transaction. When `signal` aborts, it stops waiting or is cancelled in the database, and rejects. Throws
 * `AppError` 429 `rate_limited` when the account has too many searches waiting, 503 `unavailable` after too long a
 * wait, and 503 `search_timeout` when the database takes longer than `searchTimeoutMs`.
 */
export type ReadSearch = <T>(
  owner: Owner,
  signal: AbortSignal,
  read: (graph: Sql) => Promise<T>,
) => Promise<T>;

/** Opens the searches of a process. */
export function openSearches(
  { replicas, sql, searchSql, testSearchSql, watchSql }: SearchConnections,
  { databaseConnections, searchTimeoutMs }: Pick<Config, 'databaseConnections' | 'searchTimeoutMs'>,
): ReadSearch {
  const share = openShare({
    name: 'searches',
    inFlightMax: databaseConnections,
    accountInFlightMax: ACCOUNT_IN_FLIGHT_MAX,
    accountWaitingMax: ACCOUNT_WAITING_MAX,
    waitMsMax: WAIT_MS_MAX,
  });
  return (owner, gone, read) =>
    share(owner.accountId, gone, async () => {
      const signal = AbortSignal.any([gone, AbortSignal.timeout(searchTimeoutMs)]);
      const bounded = <T>(graph: Sql, control: Sql, work: (tx: Sql) => Promise<T>) =>
        readCancellable(graph, { signal, control }, work).catch((error: unknown) => {
          throw isCancelled(error) ? searchTimeout(error) : error;
        });
      if (!owner.live) return bounded(testSearchSql, watchSql, read);
      return replicas.read('searches', searchSql, (graph, control) =>
        bounded(graph, control ?? watchSql, async (tx) => {
          if (control !== null) await assertReplayed(sql, tx, owner);
          return read(tx);
        }),
      );
    });
}

/** A replica never goes back: all later statements see at least what it has replayed now. */
async function assertReplayed(primary: Sql, replica: Sql, owner: Owner): Promise<void> {
  const [now, known] = await Promise.all([
    readExclusions(primary, owner),
    readExclusions(replica, owner),
  ]);
  if (isBefore(known, now)) throw new ReplicaBehind();
}

function isBefore(known: Exclusions, now: Exclusions): boolean {
  return known.suppression < now.suppression || known.contactsVersion < now.contactsVersion;
}
