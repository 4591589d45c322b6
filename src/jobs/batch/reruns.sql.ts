/** Statements about a list and its reruns: lists of some of its rows, each with their numbers. */
import type { Sql } from '../../core/db/client.ts';
import { wordList } from '../../core/db/word-list.ts';
import type { ListBatch } from './batch.ts';
import { batchColumns } from './batches.sql.ts';
import { finalStates } from './states.ts';

/** Numbers of a rerun's rows in the list that was uploaded, from its first row on; null for another list. */
export async function findRerunRows(sql: Sql, id: string): Promise<number[] | null> {
  const [row] = await sql<{ rerunRows: number[] | null }[]>`
    select rerun_rows from batches where id = ${id}`;
  return row?.rerunRows ?? null;
}

/** The reruns of a list, and theirs, with files and results, oldest first. */
export async function listReruns(sql: Sql, id: string): Promise<ListBatch[]> {
  return sql<ListBatch[]>`
    with recursive rerun (rerun_id) as (
      select id from batches where rerun_of = ${id}
      union all
      select id from rerun join batches on rerun_of = rerun_id)
    select ${batchColumns(sql)} from rerun join batches on id = rerun_id
    where files_deleted_at is null and chunks_done > 0
    order by created_at, id`;
}

/**
 * A rerun that has not ended, other than `id`, of the list that `id` is a rerun of, directly or not; undefined without
 * one. Call after `insertBatch` of the rerun, which locks the account: no other can be added meanwhile.
 */
export async function findOpenRerun(sql: Sql, id: string): Promise<string | undefined> {
  const [open] = await sql<{ id: string }[]>`
    with recursive upwards (list_id, parent_id) as (
      select id, rerun_of from batches where id = ${id}
      union all
      select id, rerun_of from upwards join batches on id = parent_id),
    family (list_id) as (
      select list_id from upwards where parent_id is null
      union all
      select id from family join batches on rerun_of = list_id)
    select id from family join batches on id = list_id
    where id <> ${id} and state not in ${wordList(sql, finalStates)}
    limit 1`;
  return open?.id;
}
