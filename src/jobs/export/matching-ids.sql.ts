/** Statements only for exports; those shared with lists are with the batches. */
import type { Sql } from '../../core/db/client.ts';
import { readRows } from '../../core/db/read-rows.ts';
import { unkept } from '../../core/db/unkept.ts';
import { entityCodes } from '../../core/graph/sources/source-record.ts';
import { compileSearch } from '../../core/search/compile.sql.ts';
import type { PreparedFilter } from '../../core/search/prepared-filter.ts';

export interface Matching {
  people: PreparedFilter;
  /**
   * Excludes people whom this schedule has delivered, and those whose record an import has joined with that of one; null
   * to exclude none.
   */
  notDeliveredBy: string | null;
  /** Maximum number of ids. */
  max: number;
}

/**
 * Ids of the people that a filter matches, in order, page by page. One statement reads them, so they are of one
 * state of the graph. `tx` must be a transaction.
 */
export function readMatchingIds(
  tx: Sql,
  { people, notDeliveredBy: scheduleId, max }: Matching,
): AsyncIterable<{ id: number }[]> {
  const [own, joined] = scheduleId === null ? [] : deliveriesOf(tx, scheduleId, tx`s.id`);
  const isNew = own === undefined ? tx`true` : tx`not ${own} and not ${joined}`;
  const select = tx`
    select s.id from person_search s
    where ${compileSearch(tx, people)} and ${isNew} order by s.id limit ${max}`;
  return readRows(tx, select);
}

/** Conditions: the schedule has delivered the person of the expression `id`, and one whose record became a part of theirs. */
function deliveriesOf(
  sql: Sql,
  scheduleId: string,
  id: ReturnType<Sql>,
): [own: ReturnType<Sql>, joined: ReturnType<Sql>] {
  return [
    sql`exists (
      select from schedule_deliveries d where d.schedule_id = ${scheduleId} and d.person_id = ${id})`,
    sql`exists (
      select from merged_ids m join schedule_deliveries d on d.person_id = m.id
      where m.entity = ${entityCodes.person} and m.into_id = ${id} and d.schedule_id = ${scheduleId})`,
  ];
}

/** Returns those of these people whom the schedule has delivered. */
export async function selectDelivered(
  sql: Sql,
  scheduleId: string,
  ids: readonly number[],
): Promise<number[]> {
  const [own, joined] = deliveriesOf(sql, scheduleId, sql`a.id`);
  const rows = await sql<{ id: number }[]>`
    select a.id from unnest(${[...ids]}::bigint[]) a (id) where ${own} or ${joined}`;
  return rows.map(({ id }) => id);
}

/** The ids among these that match a filter. */
export async function selectMatchingIds(
  sql: Sql,
  people: PreparedFilter,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await unkept(sql<{ id: number }[]>`
    select s.id from person_search s
    where s.id = any(${[...ids]}::bigint[]) and ${compileSearch(sql, people)}`);
  return rows.map(({ id }) => id);
}
