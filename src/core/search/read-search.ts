/**
 * Where a search is read: on a replica that knows every opt-out and every change of the account's
 * do-not-contact list that the primary knows, else on the primary. So nobody is found, counted or
 * charged who was suppressed or listed before the call, however far the replicas are behind.
 */
import type { Sql } from '../db/client.ts';
import { ReplicaBehind, type Replicas } from '../db/replicas.ts';
import type { SearchOwner } from './prepared-filter.ts';
import { type Exclusions, readExclusions } from './queries.ts';

export interface SearchConnections {
  sql: Sql;
  searchSql: Sql;
  testSearchSql: Sql;
  replicas: Replicas;
}

/** Runs a read of the owner's; twice when a replica fails in the middle. Test keys have no replicas. */
export async function readSearch<T>(
  { replicas, sql, searchSql, testSearchSql }: SearchConnections,
  owner: SearchOwner,
  read: (graph: Sql) => Promise<T>,
): Promise<T> {
  if (!owner.live) return read(testSearchSql);
  return replicas.read('searches', searchSql, async (graph, server) => {
    if (server === 'replica') await assertKnown(sql, graph, owner);
    return read(graph);
  });
}

/** A replica never goes back: what it knows here, it knows in every statement that follows. */
async function assertKnown(primary: Sql, replica: Sql, owner: SearchOwner): Promise<void> {
  const [now, known] = await Promise.all([
    readExclusions(primary, owner),
    readExclusions(replica, owner),
  ]);
  if (isBefore(known, now)) throw new ReplicaBehind();
}

function isBefore(known: Exclusions, now: Exclusions): boolean {
  return known.suppression < now.suppression || known.contactsVersion < now.contactsVersion;
}
