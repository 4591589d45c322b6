/** Statements of exports alone; everything that they share with lists is where batches have it. */
import type { Sql } from '../../core/db/client.ts';
import { readRows } from '../../core/db/read-rows.ts';
import { compileSearch } from '../../core/search/compile.sql.ts';
import type { PreparedFilter } from '../../core/search/prepared-filter.ts';

export interface Matching {
  people: PreparedFilter;
  /** Leaves out whom this schedule has delivered; null for nobody. */
  notDeliveredBy: string | null;
  /** The most ids that are read. */
  max: number;
}

/**
 * Ids of the people that a filter matches, in order, page by page; all of one state of the graph, because they come from
 * one statement. `tx` must be a transaction.
 */
export function readMatchingIds(
  tx: Sql,
  { people, notDeliveredBy: scheduleId, max }: Matching,
): AsyncIterable<{ id: number }[]> {
  const isNew =
    scheduleId === null
      ? tx`true`
      : tx`not exists (
          select from schedule_deliveries d
          where d.schedule_id = ${scheduleId} and d.person_id = s.id)`;
  const select = tx`
    select s.id from person_search s
    where ${compileSearch(tx, people)} and ${isNew} order by s.id limit ${max}`;
  return readRows(tx, select);
}

/** Those of these people whom a filter means. */
export async function selectMatchingIds(
  sql: Sql,
  people: PreparedFilter,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select s.id from person_search s
    where s.id = any(${[...ids]}::bigint[]) and ${compileSearch(sql, people)}`;
  return rows.map(({ id }) => id);
}
