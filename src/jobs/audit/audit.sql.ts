import type { Sql } from '../../core/db/client.ts';
import type { ObjectSum } from '../../core/storage/object-store.ts';
import type { Part } from '../result/parts.sql.ts';
import { idsOf } from '../result/redaction.sql.ts';

/** Batches that still have their files, in the order of their ids, after this one. */
export async function listBatchesWithFiles(
  sql: Sql,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from batches
    where files_deleted_at is null and (${after}::uuid is null or id > ${after}::uuid)
    order by id limit ${limit}`;
  return rows.map((row) => row.id);
}

/** A recorded part with the object of whom it shows: null where there is none, or its sum is not known. */
export interface RecordedPart
  extends Pick<Part, 'batchId' | 'chunkNumber' | 'k' | 'objectKey' | 'bytes' | 'crc32'> {
  ids: ObjectSum | null;
}

/** All recorded parts of a batch that are objects, in the order of the file. */
export async function listRecordedParts(sql: Sql, batchId: string): Promise<RecordedPart[]> {
  return sql<RecordedPart[]>`
    select batch_id, chunk_number, k, object_key, bytes, crc32, ${idsOf(sql)} from parts
    where batch_id = ${batchId} and bytes > 0 order by chunk_number, k`;
}

/**
 * Takes the batch whose objects have not been read for longest, at least a day, as read now. Undefined when
 * there is none, or when what was taken in the last `minutes` holds `bytesMax` bytes. Batches that ended
 * `keepDays` ago are left out: their files are being deleted.
 */
export async function takeForScrub(
  sql: Sql,
  limits: { minutes: number; bytesMax: number; keepDays: number },
): Promise<string | undefined> {
  const [taken] = await sql<{ id: string }[]>`
    update batches set objects_checked_at = clock_timestamp()
    where id = (
      select id from batches
      where files_deleted_at is null
        and coalesce(objects_checked_at, created_at) < clock_timestamp() - interval '1 day'
        and (finished_at is null
          or finished_at > clock_timestamp() - make_interval(days => ${limits.keepDays}))
        and ${limits.bytesMax} > (
          select coalesce(sum(stored_bytes), 0) from batches
          where files_deleted_at is null and objects_checked_at is not null
            and coalesce(objects_checked_at, created_at)
              > clock_timestamp() - make_interval(mins => ${limits.minutes}))
      order by coalesce(objects_checked_at, created_at) limit 1 for update skip locked)
    returning id`;
  return taken?.id;
}

/** Records how many objects of a batch were damaged or missing when all of them were read. */
export async function recordScrub(sql: Sql, batchId: string, damaged: number): Promise<void> {
  await sql`
    update batches set objects_damaged = ${damaged}
    where id = ${batchId} and objects_damaged <> ${damaged}`;
}

/** Gives a batch back that was taken and not read to its end: it is the next one again. */
export async function giveBackToScrub(sql: Sql, batchId: string): Promise<void> {
  await sql`update batches set objects_checked_at = null where id = ${batchId}`;
}
