/** Statements about a list and its reruns: lists of some of its rows, each with their numbers. */
import type { Sql } from '../../core/db/client.ts';
import { wordList } from '../../core/db/word-list.ts';
import { joinedIds, presentIds } from '../../core/graph/merged-ids.sql.ts';
import { operations } from '../../core/operations.ts';
import { finalStates } from './states.ts';

const peopleOperations = Object.entries(operations).flatMap(([name, { subject }]) =>
  subject === 'person' ? [name] : [],
);

/** Numbers of a rerun's rows in the list that was uploaded, from its first row on; null for another list. */
export async function findRerunRows(sql: Sql, id: string): Promise<number[] | null> {
  const [row] = await sql<{ rerunRows: number[] | null }[]>`
    select rerun_rows from batches where id = ${id}`;
  return row?.rerunRows ?? null;
}

/**
 * Of decisions about ambiguous rows, the records that the rows `from` to `to` of the batch mean, counted from 1; 0 where
 * none is. Null for every other list.
 */
export async function findRerunRecords(
  sql: Sql,
  id: string,
  rows: { from: number; to: number },
): Promise<number[] | null> {
  const [row] = await sql<{ records: number[] | null }[]>`
    select rerun_records[${rows.from}::int:${rows.to}::int] as records from batches where id = ${id}`;
  return row?.records ?? null;
}

/** A rerun with files and results. */
export interface AnsweringRerun {
  id: string;
  /** Number of its first row in the list that was uploaded. */
  firstRow: number;
}

/** A rerun of a list, or of one of its reruns. */
export interface Rerun {
  id: string;
  hasEnded: boolean;
}

/**
 * Recursive CTEs, up to `family (list_id)`: the list that was uploaded, of which `id` is a rerun, directly or not, or
 * which it is; and all its reruns.
 */
function familyOf(sql: Sql, id: string): ReturnType<Sql> {
  return sql`
    upwards (list_id, parent_id) as (
      select id, rerun_of from batches where id = ${id}
      union all
      select id, rerun_of from upwards join batches on id = parent_id),
    family (list_id) as (
      select list_id from upwards where parent_id is null
      union all
      select id from family join batches on rerun_of = list_id)`;
}

/**
 * The reruns of the list that `id` is, or is a rerun of, directly or not. After `insertBatch` of a rerun, which locks the
 * account, no other can be added until the end of the transaction.
 */
export async function listFamily(sql: Sql, id: string): Promise<Rerun[]> {
  return sql<Rerun[]>`
    with recursive ${familyOf(sql, id)}
    select id, state in ${wordList(sql, finalStates)} as has_ended
    from family join batches on id = list_id
    where rerun_of is not null`;
}

/**
 * The reruns after a list, with files and results, latest first: its own and theirs, and of a rerun also the later ones of the
 * list that was uploaded, which may have its rows. The ids of chunks say which is later, whatever the clock said: a list is rerun
 * only when all its reruns have ended, and a sequence never goes back. A rerun that failed may have results of an unfinished
 * chunk.
 */
export async function listReruns(sql: Sql, id: string): Promise<AnsweringRerun[]> {
  return sql<AnsweringRerun[]>`
    with recursive ${familyOf(sql, id)},
    cut (list_id, first_chunk, has_results) as (
      select batch_id, min(id), bool_or(parts > 0) from chunks
      where batch_id in (select list_id from family) group by batch_id)
    select b.id, b.rerun_rows[1] as first_row
    from batches b join cut on list_id = b.id
    where b.rerun_of is not null and has_results and b.files_deleted_at is null
      and ((select rerun_of from batches where id = ${id}) is null
        or first_chunk > (select first_chunk from cut where list_id = ${id}))
    order by first_chunk desc`;
}

/** A record that a list or one of its reruns has matched with `dedupe`. */
interface AnsweredRecord {
  recordId: number;
  /** The first row of it in the list that was uploaded. */
  row: number;
  /** Matched, and paid, by this list itself. */
  isOwn: boolean;
}

/**
 * Those of the records that the list, a list that it is a rerun of, or one of their reruns has matched with `dedupe`. The
 * first row of a record comes last.
 */
export async function findAnsweredRecords(
  sql: Sql,
  id: string,
  recordIds: readonly number[],
): Promise<AnsweredRecord[]> {
  return sql<AnsweredRecord[]>`
    with recursive ${familyOf(sql, id)}
    select record_id, row, batch_id = ${id} as is_own
    from family join batch_records on batch_id = list_id
    where record_id = any(${[...recordIds]}::bigint[])
    order by row desc`;
}

/** Records that a part of a list with `dedupe` is the first to match. */
export interface FirstMatched {
  /** The list. */
  batchId: string;
  /** Entity of the records; see `entityCodes`. */
  entity: number;
  ids: readonly number[];
}

/**
 * Condition: imports have joined one of these records with another of them, or with one that the list or its family has matched.
 */
export function areJoined(sql: Sql, { batchId, entity, ids }: FirstMatched): ReturnType<Sql> {
  const given: ReturnType<Sql> = sql`select unnest(${[...ids]}::bigint[])`;
  return sql`(
    exists (select from ${presentIds(sql, entity, given)} p group by present_id having count(*) > 1)
    or exists (
      with recursive ${familyOf(sql, batchId)}
      select from ${joinedIds(sql, entity, given)} j
        join batch_records on record_id = joined_id join family on list_id = batch_id))`;
}

/** Returns true when imports have joined these records, as `areJoined` says. */
export async function haveBeenJoined(sql: Sql, records: FirstMatched): Promise<boolean> {
  const joined = await sql`select where ${areJoined(sql, records)}`;
  return joined.length > 0;
}

/**
 * Deletes `dedupe` records that are not needed once the files of a list are deleted: those of its whole family when no other
 * list of it has files, and the list's own when a list that it is a rerun of has files, because only that list can run these
 * rows again, and then matches them anew. Any other record is kept: a list of the family with files may run further rows,
 * whose records are not charged again.
 */
export async function deleteUnneededRecords(sql: Sql, id: string): Promise<void> {
  await sql`
    with recursive ${familyOf(sql, id)},
    kept (list_id) as (
      select id from family join batches on id = list_id
      where files_deleted_at is null and id <> ${id})
    delete from batch_records where batch_id in (
      select list_id from family where not exists (select from kept)
      union
      select ${id}::uuid where exists (select from upwards join kept using (list_id)))`;
}

/**
 * Condition: the batch `b` has decisions, and has answered each of them, or may yet. Of one that ended before, as when it was
 * cancelled, no record says which rows it answered.
 */
function isDecided(sql: Sql): ReturnType<Sql> {
  return sql`(b.rerun_records is not null and (b.state not in ${wordList(sql, finalStates)}
    or b.matched + b.no_match + b.suppressed + b.duplicate = cardinality(b.rerun_rows)))`;
}

/**
 * Lists that rerun rows of a list, directly or not, and have files; those of decisions that `moveDecisions` moves are left out.
 */
export async function listRerunsBelow(sql: Sql, id: string): Promise<Rerun[]> {
  return sql<Rerun[]>`
    with recursive below (list_id) as (
      select id from batches where rerun_of = ${id}
      union all
      select id from below join batches on rerun_of = list_id)
    select b.id, b.state in ${wordList(sql, finalStates)} as has_ended
    from below join batches b on b.id = list_id
    where b.files_deleted_at is null and not ${isDecided(sql)}`;
}

/**
 * Other reruns of the list that `id` is a rerun of, with files, which have rows that a rerun in its place would run again, and
 * charge or answer in another way: those that have not ended, and later ones with matches or decisions. Not those of
 * `listRerunsBelow`.
 */
export async function listRerunsBeside(sql: Sql, id: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with recursive ${familyOf(sql, id)},
    below (list_id) as (
      select ${id}::uuid
      union all
      select id from below join batches on rerun_of = list_id),
    beside as (
      select b.id, b.state in ${wordList(sql, finalStates)} as has_ended,
        (b.matched > 0 or b.rerun_records is not null) and (select min(id) from chunks where batch_id = b.id)
          > (select min(id) from chunks where batch_id = ${id}) as has_later_answers
      from family join batches b on b.id = list_id
      where b.rerun_of is not null and b.files_deleted_at is null
        and (b.rerun_records is not null or b.id not in (select list_id from below)) and b.id <> ${id}
        and exists (
          select unnest(b.rerun_rows)
          intersect
          select unnest(own.rerun_rows) from batches own where own.id = ${id}))
    select id from beside where not has_ended or has_later_answers`;
  return rows.map((row) => row.id);
}

/**
 * Makes the decisions about rows of these lists those about the same rows of another one, which takes their place. Those that
 * ended before all were answered stay.
 */
export async function moveDecisions(sql: Sql, from: readonly string[], to: string): Promise<void> {
  await sql`
    update batches b set rerun_of = ${to}
    where b.rerun_of = any(${[...from]}::uuid[]) and b.files_deleted_at is null and ${isDecided(sql)}`;
}

/** Forgets what a list has matched with `dedupe`. */
export async function deleteAnsweredRecords(sql: Sql, id: string): Promise<void> {
  await sql`delete from batch_records where batch_id = ${id}`;
}

/** Forgets that lists with `dedupe` have matched these people. */
export async function deleteAnsweredPeople(sql: Sql, ids: readonly number[]): Promise<void> {
  await sql`
    delete from batch_records r using batches b
    where b.id = r.batch_id and r.record_id = any(${[...ids]}::bigint[])
      and b.operation = any(${peopleOperations})`;
}
