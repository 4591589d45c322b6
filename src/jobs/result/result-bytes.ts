/** Bounds the bytes that the result of a list can take without payment. */
import { outputColumns } from '../../core/enrich/match-data.ts';
import type { ListBatch } from '../batch/batch.ts';

/** A byte that is not UTF-8 becomes three; a quote in a line with unbalanced quotes becomes two. */
const BYTES_OF_A_BYTE = 3;
/** The match columns of an unmatched row, its line break, and quotes around an unreadable line. */
const ROW_BYTES = 128;
/** A record of the test graph is half as long; records are free for test keys. */
const TEST_ANSWER_BYTES = 4096;

/** The totals of a list after its split. */
interface ListSize {
  /** Bytes of the canonical object. */
  bytes: number;
  rows: number;
  /** Columns of the widest row or the header, to which all rows are padded. */
  width: number;
}

/**
 * An upper bound on the bytes of a list's result without paid records: a short row may be padded to hundreds of
 * columns, so a small upload can have a large result.
 */
export function resultBytesMax(
  { operation, fields, live }: Pick<ListBatch, 'operation' | 'fields' | 'live'>,
  { bytes, rows, width }: ListSize,
): number {
  const delimiters = width + outputColumns(operation, fields).length;
  const answer = live ? 0 : TEST_ANSWER_BYTES;
  return bytes * BYTES_OF_A_BYTE + rows * (delimiters + ROW_BYTES + answer);
}
