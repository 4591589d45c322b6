/** Statements only for exports; those shared with lists are with the batches. */
import type { Sql } from '../../core/db/client.ts';
import { readRows } from '../../core/db/read-rows.ts';
import { unkept } from '../../core/db/unkept.ts';
import { joinedIds } from '../../core/graph/merged-ids.sql.ts';
import { entityCodes } from '../../core/graph/source-entities.ts';
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
  /** Milliseconds after which the server ends a statement of the transaction. */
  statementMsMax: number;
}

/**
 * Ids of the people that a filter matches, in order, page by page. One statement reads them, so they are of one
 * state of the graph. `tx` must be a transaction.
 */
export function readMatchingIds(
  tx: Sql,
  { people, notDeliveredBy: scheduleId, max, statementMsMax }: Matching,
): AsyncIterable<{ id: number }[]> {
  const isNew = scheduleId === null ? tx`true` : notDelivered(tx, scheduleId);
  const select = tx`
    select s.id from person_search s
    where ${compileSearch(tx, people)} and ${isNew} order by s.id limit ${max}`;
  return readRows(tx, select, statementMsMax);
}

/** Condition: the schedule has delivered neither the person `s.id` nor one whose record an import has joined with theirs. */
function notDelivered(sql: Sql, scheduleId: string): ReturnType<Sql> {
  const delivered: ReturnType<Sql> = sql`
    select d.person_id from schedule_deliveries d where d.schedule_id = ${scheduleId}`;
  return sql`
    not exists (${delivered} and d.person_id = s.id)
    and not exists (
      select from ${joinedIds(sql, entityCodes.person, delivered)} joined where joined_id = s.id)`;
}

/** Returns true while there is the schedule: with it, whom it has delivered is forgotten. */
export async function hasSchedule(sql: Sql, id: string): Promise<boolean> {
  const found = await sql`select from schedules where id = ${id}`;
  return found.length > 0;
}

/** Returns those of these people whom the schedule has delivered, also under another id of the same person. */
export async function selectDelivered(
  sql: Sql,
  scheduleId: string,
  ids: readonly number[],
): Promise<number[]> {
  const given: ReturnType<Sql> = sql`select unnest(${[...ids]}::bigint[])`;
  const rows = await sql<{ id: number }[]>`
    select distinct asked.id from (
      select id, id from (${given}) own (id)
      union all
      select id, joined_id from ${joinedIds(sql, entityCodes.person, given)} joined) asked (id, person_id)
    join schedule_deliveries d using (person_id)
    where d.schedule_id = ${scheduleId}`;
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
