/** Statements of exports alone; everything that they share with lists is where batches have it. */
import type { Sql } from '../../../core/db/client.ts';
import { compileSearch } from '../../../core/search/compile.ts';
import type { PreparedFilter } from '../../../core/search/prepared-filter.ts';

/** Ids in order, one a line, and how many; of how many in all slices. */
export interface IdSlice {
  ids: string;
  rows: number;
  total: number;
}

/** Slices that are fetched at once: some hundred kilobytes. */
const SLICES_AHEAD = 4;

export interface Matching {
  people: PreparedFilter;
  /** Leaves out whom this schedule has delivered; null for nobody. */
  notDeliveredBy: string | null;
  sliceRows: number;
  /** The most ids that are read. */
  max: number;
}

/**
 * The ids of the people that a filter means, in order, in slices of so many; all of one state of the graph,
 * because they come from one statement, and never all in memory. Slices that do not interest are not read.
 * The driver ends a cursor whose connection breaks between two fetches as if all were read: compare `total`.
 */
export function readMatchingIds(sql: Sql, matching: Matching): AsyncIterable<IdSlice[]> {
  const { people, notDeliveredBy: scheduleId, sliceRows, max } = matching;
  const isNew =
    scheduleId === null
      ? sql`true`
      : sql`not exists (
          select from schedule_deliveries d
          where d.schedule_id = ${scheduleId} and d.person_id = s.id)`;
  return sql<IdSlice[]>`
    select string_agg(id::text, E'\n' order by id) as ids, count(*)::int as rows,
      (sum(count(*)) over ())::int as total
    from (
      select s.id, (row_number() over (order by s.id) - 1) / ${sliceRows}::int as slice
      from person_search s where ${compileSearch(sql, people)} and ${isNew}
      order by s.id limit ${max}) meant
    group by slice order by slice`.cursor(SLICES_AHEAD);
}

/** Those of these people whom a filter means. */
export async function listMeant(
  sql: Sql,
  people: PreparedFilter,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select s.id from person_search s
    where s.id = any(${[...ids]}::bigint[]) and ${compileSearch(sql, people)}`;
  return rows.map(({ id }) => id);
}
