/** Statements that read the parts of results. */
import type { Sql } from '../../core/db/client.ts';
import type { ObjectSum } from '../../core/storage/object-store.ts';
import type { PartReport } from '../batch/report.ts';

/** One object of a batch's result, with its size and checksum as written. */
export interface Part extends ObjectSum {
  batchId: string;
  chunkNumber: number;
  number: number;
  objectKey: string;
  /** Number of its first row in the list, from 1. */
  firstRow: number;
  rows: number;
  /** Bytes of its longest row, an upper bound for its cells. */
  rowBytesMax: number;
}

/** A part that can be read, with the number up to which it contains no suppressed person; null for a part without people. */
export interface FinishedPart extends Part {
  suppressionNumber: number | null;
}

/**
 * The parts that can be streamed now, in order. While the batch is active: all recorded parts up to the first
 * unfinished chunk, including that chunk's finished parts. Once it has ended: all of them, also those after
 * rows without a part. A part of an export with no person left has no object.
 */
export async function listFinishedParts(sql: Sql, batchId: string): Promise<FinishedPart[]> {
  return sql<FinishedPart[]>`
    select * from (
      select p.batch_id, p.chunk_number, p.number, p.object_key, p.rows, p.bytes, p.crc32, p.row_bytes_max,
        p.suppression_number,
        (c.first_row - p.rows + sum(p.rows) over (partition by c.number order by p.number))::int as first_row
      from parts p
      join chunks c on c.batch_id = p.batch_id and c.number = p.chunk_number
      join batches b on b.id = p.batch_id
      where p.batch_id = ${batchId} and (b.finished_at is not null or p.chunk_number <= coalesce((
        select min(number) from chunks where batch_id = ${batchId} and state <> 'done'), 2147483647))
    ) part
    where bytes > 0 order by chunk_number, number`;
}

/** The reports of a batch's parts in file order. */
export async function listPartReports(sql: Sql, batchId: string): Promise<PartReport[]> {
  const rows = await sql<{ report: PartReport }[]>`
    select report from parts where batch_id = ${batchId} order by chunk_number, number`;
  return rows.map((row) => row.report);
}

/** The keys of a batch's recorded parts. */
export async function listPartKeys(sql: Sql, batchId: string): Promise<string[]> {
  const rows = await sql<{ objectKey: string }[]>`
    select object_key from parts where batch_id = ${batchId}`;
  return rows.map((row) => row.objectKey);
}

/**
 * Returns the keys, of these keys of parts and person indexes as claims write them, that no commit has recorded or will
 * record, because their chunk has been claimed again.
 */
export async function listAbandonedParts(sql: Sql, keys: readonly string[]): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from (
      select key, regexp_replace(key, '[.]ids$', '') as object_key,
        regexp_match(key, '^batches/([^/]+)/parts/([0-9]+)-([0-9]+)-([0-9]+)') as place
      from unnest(${[...keys]}::text[]) k (key)) written
    where exists (
        select from chunks c
        where c.batch_id = place[1]::uuid and c.number = place[2]::int and c.epoch > place[4]::int)
      and not exists (
        select from parts p
        where p.batch_id = place[1]::uuid and p.chunk_number = place[2]::int and p.number = place[3]::int
          and p.object_key = written.object_key)`;
  return rows.map((row) => row.key);
}
