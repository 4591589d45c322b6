/** Statements about the parts of results, as readers meet them. */
import type { Sql } from '../../core/db/client.ts';
import type { ObjectSum } from '../../core/storage/object-store.ts';
import type { PartReport } from '../batch/report.ts';

/** One object of a batch's result, with what it held when it was written. */
export interface Part extends ObjectSum {
  batchId: string;
  chunkNumber: number;
  k: number;
  objectKey: string;
  /** Number of its first row in the list, from 1. */
  firstRow: number;
  rows: number;
  /** Of its longest row, so that no cell is longer; null where an earlier version wrote it. */
  rowBytesMax: number | null;
}

/**
 * The parts that a reader may stream now, in order. While the batch moves: all recorded parts up to the first
 * chunk that is not finished (its own finished parts included). Once it has ended: all of them, also those
 * after rows that never got one. A part that nobody of an export is left in is no object.
 */
export async function listFinishedParts(sql: Sql, batchId: string): Promise<Part[]> {
  return sql<Part[]>`
    select * from (
      select p.batch_id, p.chunk_number, p.k, p.object_key, p.rows, p.bytes, p.crc32, p.row_bytes_max,
        (c.first_row - p.rows + sum(p.rows) over (partition by c.number order by p.k))::int as first_row
      from parts p
      join chunks c on c.batch_id = p.batch_id and c.number = p.chunk_number
      join batches b on b.id = p.batch_id
      where p.batch_id = ${batchId} and (b.finished_at is not null or p.chunk_number <= coalesce((
        select min(number) from chunks where batch_id = ${batchId} and state <> 'done'), 2147483647))
    ) part
    where bytes > 0 order by chunk_number, k`;
}

/** The reports of a batch's parts in file order. */
export async function listPartReports(sql: Sql, batchId: string): Promise<PartReport[]> {
  const rows = await sql<{ report: PartReport }[]>`
    select report from parts where batch_id = ${batchId} order by chunk_number, k`;
  return rows.map((row) => row.report);
}
