import type { Sql } from '../../core/db/client.ts';
import { isToCome } from '../../core/db/lease.ts';
import type { ObjectSum } from '../../core/storage/object-store.ts';
import type { Batch } from '../batch/batch.ts';
import { batchColumns } from '../batch/batches.sql.ts';
import type { BatchReason, BatchState } from '../batch/states.ts';
import type { Part } from '../result/parts.sql.ts';
import { idsOf } from '../result/redaction.sql.ts';

/** A page of the batches that still have their files, by id, after this one. */
export async function listBatchesWithFiles(
  sql: Sql,
  after: string | null,
  limit: number,
): Promise<Batch[]> {
  return sql<Batch[]>`
    select ${batchColumns(sql)} from batches
    where files_deleted_at is null and (${after}::uuid is null or id > ${after}::uuid)
    order by id limit ${limit}`;
}

/** The state of a batch, as an answer about it shows it. */
export interface BatchStatus {
  id: string;
  state: BatchState;
  reason: BatchReason | null;
  /** False once its files were deleted. */
  hasFiles: boolean;
}

/** The statuses of those among these batches that the database has. */
export async function readBatchStatuses(sql: Sql, ids: string[]): Promise<BatchStatus[]> {
  return sql<BatchStatus[]>`
    select id, state, reason, files_deleted_at is null as has_files from batches
    where id = any(${ids}::uuid[])`;
}

/** A recorded part with its person index: null without one, or when its sum is unknown. */
export interface RecordedPart
  extends Pick<Part, 'batchId' | 'chunkNumber' | 'number' | 'objectKey' | 'bytes' | 'crc32'> {
  ids: ObjectSum | null;
}

/** All recorded parts of these batches that have an object, by batch and in file order. */
export async function listRecordedParts(
  sql: Sql,
  batchIds: readonly string[],
): Promise<RecordedPart[]> {
  return sql<RecordedPart[]>`
    select batch_id, chunk_number, number, object_key, bytes, crc32, ${idsOf(sql)} from parts
    where batch_id = any(${[...batchIds]}::uuid[]) and bytes > 0
    order by batch_id, chunk_number, number`;
}

/**
 * Takes the batch whose objects were read longest ago, at least a day, and marks it as read now. Undefined when there is none, or
 * when the batches taken in the last `minutes` reach `bytesMax` bytes, each counted with at least `batchBytesMin`. Skips batches
 * that ended `keepDays` ago: their files are being deleted. A time to come is from before the clock was set back: such a batch
 * comes after those that are due, and does not count as taken.
 */
export async function takeForScrub(
  sql: Sql,
  limits: { minutes: number; bytesMax: number; batchBytesMin: number; keepDays: number },
): Promise<string | undefined> {
  const checkedAt: ReturnType<Sql> = sql`coalesce(objects_checked_at, created_at)`;
  // As a subquery it is a single moment, for which an index is used; otherwise each call reads all batches.
  const now: ReturnType<Sql> = sql`(select clock_timestamp())`;
  const first = (condition: ReturnType<Sql>) => sql`(
    select id from batches
    where files_deleted_at is null and ${condition} and (finished_at is null
      or finished_at > ${now} - make_interval(days => ${limits.keepDays}))
    order by ${checkedAt} limit 1 for update skip locked)`;
  const isDue: ReturnType<Sql> = sql`${checkedAt} < ${now} - interval '1 day'`;
  const [taken] = await sql<{ id: string }[]>`
    update batches set objects_checked_at = clock_timestamp()
    where id = coalesce(
        ${first(isDue)},
        ${first(isToCome(sql, checkedAt, now))})
      and ${limits.bytesMax} > (
        select coalesce(sum(greatest(stored_bytes, ${limits.batchBytesMin})), 0) from batches
        where files_deleted_at is null and objects_checked_at is not null
          and ${checkedAt} > ${now} - make_interval(mins => ${limits.minutes})
          and not ${isToCome(sql, checkedAt, now)})
    returning id`;
  return taken?.id;
}

/** Records the number of damaged or missing objects after all objects of a batch were read. */
export async function recordScrub(sql: Sql, batchId: string, damaged: number): Promise<void> {
  await sql`
    update batches set objects_damaged = ${damaged}
    where id = ${batchId} and objects_damaged <> ${damaged}`;
}

/** Releases a batch that was taken but not fully read: it is next again. */
export async function releaseFromScrub(sql: Sql, batchId: string): Promise<void> {
  await sql`update batches set objects_checked_at = null where id = ${batchId}`;
}
