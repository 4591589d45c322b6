/**
 * Claims of chunks by workers. A claim raises the epoch of its chunk, which fences off the previous holder, and
 * grants a lease on the database's clock.
 */

import { ownedDays as ownedDaysOf } from '../../core/credits/owned.sql.ts';
import type { Sql } from '../../core/db/client.ts';
import { wordList } from '../../core/db/word-list.ts';
import type { Chunk } from '../../formats/csv/split.ts';
import type { Batch } from '../batch/batch.ts';
import { batchColumns } from '../batch/batches.sql.ts';
import type { ChunkWakeUp } from '../batch/dispatch.sql.ts';
import { claimEnd } from '../batch/lease.sql.ts';
import { runnableStates } from '../batch/states.ts';

/** A chunk as a worker needs it. */
export interface ClaimedChunk extends Chunk {
  chunkId: number;
  epoch: number;
  batchId: string;
  number: number;
  /** Of a rerun with `dedupe`, the number of each row in the list that was uploaded; null for other batches. */
  rowNumbers: number[] | null;
  /** Numbers of its rows that earlier decisions have answered: see `moveDecisions`; null for none. */
  decidedRows: number[] | null;
  rowsDone: number;
  parts: number;
  failures: number;
  keyId: string;
  /** The key whose rows per minute it uses: the batch's key, or the key that created it. */
  rowsOf: string;
  rowsPerMinute: number | null;
  /** Maximum rows of the next part; null for all that are left. */
  partRowsMax: number | null;
  /** When it was read, on the database's clock. */
  claimedAt: Date;
}

/** A leased chunk with everything that a worker needs at the start. */
export interface Claim {
  chunk: ClaimedChunk;
  /** The batch as of just before the claim. */
  batch: Batch;
  /** The trace of the batch's upload. */
  traceParent: string | null;
  /** The number of the last suppression in the batch's graph, read before matching. */
  lastSuppression: number;
  /** Days for which its account is not charged again for a person, 0 for none. */
  ownedDays: number;
}

/**
 * Leases a dispatched chunk and raises its epoch; the first claim of a batch starts the batch. Undefined when
 * the wake-up is outdated, another worker was first, or the batch is neither running nor being cancelled.
 */
export async function claimChunk(sql: Sql, wakeUp: ChunkWakeUp): Promise<Claim | undefined> {
  type Row = ClaimedChunk & Batch & Pick<Claim, 'traceParent' | 'lastSuppression' | 'ownedDays'>;
  const [row] = await sql<Row[]>`
    with chosen as (
      select id, batch_id, state, epoch from chunks
      where id = ${wakeUp.chunkId} and epoch = ${wakeUp.epoch} and state = 'dispatched'),
    batch as (
      select ${batchColumns(sql)}, trace_parent,
        (select rows_of from api_keys where api_keys.id = key_id) as rows_of,
        (select rows_per_minute from api_keys where api_keys.id = key_id) as rows_per_minute,
        ${ownedDaysOf(sql, sql`batches.account_id`)} as owned_days,
        case when live then (select coalesce(max(number), 0) from graph.suppressions)
          else (select coalesce(max(number), 0) from graph_test.suppressions)
          end as last_suppression
      from batches
      where id = (select batch_id from chosen) and state in ${wordList(sql, runnableStates)}),
    started as (
      update batches set state = 'running', started_at = clock_timestamp()
      from batch where batches.id = batch.id and batch.state = 'queued'
        and batches.state = 'queued'
      returning batches.id),
    claimed as (
      update chunks c set state = 'leased', epoch = c.epoch + 1, lease_until = ${claimEnd(sql)}
      from chosen join batch on batch.id = chosen.batch_id
        left join started on started.id = batch.id
      where c.id = chosen.id and c.state = chosen.state and c.epoch = chosen.epoch
      returning c.id as chunk_id, c.epoch, c.batch_id, c.number, c.byte_from, c.byte_to, c.first_row,
        c.first_line, c.rows, c.crc32, c.rows_done, c.parts, c.failures, c.part_rows_max, ${rowNumbers(sql)},
        ${decidedRows(sql)}, clock_timestamp() as claimed_at)
    select claimed.*, batch.* from claimed cross join batch`;
  if (row === undefined) return undefined;
  const { traceParent, lastSuppression, ownedDays } = row;
  return { chunk: row, batch: row, traceParent, lastSuppression, ownedDays };
}

/** All chunks of a batch in file order, in the form of a claim. */
export async function listChunks(sql: Sql, batchId: string): Promise<ClaimedChunk[]> {
  return sql<ClaimedChunk[]>`
    select c.id as chunk_id, c.epoch, c.batch_id, c.number, c.byte_from, c.byte_to, c.first_row,
      c.first_line, c.rows, c.crc32, c.rows_done, c.parts, c.failures, c.part_rows_max, ${rowNumbers(sql)},
      ${decidedRows(sql)}, k.id as key_id, k.rows_of, k.rows_per_minute, clock_timestamp() as claimed_at
    from chunks c join batches b on b.id = c.batch_id join api_keys k on k.id = b.key_id
    where c.batch_id = ${batchId} order by c.number`;
}

/** Column `row_numbers` of the chunk `c`. */
function rowNumbers(sql: Sql): ReturnType<Sql> {
  return sql`(
    select rerun_rows[c.first_row : c.first_row + c.rows - 1] from batches
    where id = c.batch_id and dedupe) as row_numbers`;
}

/**
 * Column `decided_rows` of the chunk `c`. Only a list that takes the place of a lost one has decisions while it runs; they cover
 * rows of a list that was uploaded.
 */
function decidedRows(sql: Sql): ReturnType<Sql> {
  return sql`(
    select array_agg(row) from batches d cross join unnest(d.rerun_rows) decided (row)
    where d.rerun_of = c.batch_id and d.rerun_records is not null
      and row between c.first_row and c.first_row + c.rows - 1) as decided_rows`;
}
