/** The most bytes that the result of a list can take before anything in it is paid. */
import { outputColumns } from '../../core/enrich/answer.ts';
import type { ListBatch } from '../batch/batch.ts';

/** A byte that is no UTF-8 becomes three; a quote of a line whose quotes do not add up becomes two. */
const BYTES_OF_A_BYTE = 3;
/** The match columns of a row without an answer, its line break, and quotes around a line that cannot be read. */
const ROW_BYTES = 128;
/** A record of the test graph is half as long; answers of test keys are free. */
const TEST_ANSWER_BYTES = 4096;

/** What the split knows of a list. */
interface ListSize {
  /** Of the canonical object. */
  bytes: number;
  rows: number;
  /** Columns of the widest row or the header, to which all rows are padded. */
  width: number;
}

/**
 * An upper bound on the bytes of a list's result, without the answers that are paid for: a short row may be padded to
 * hundreds of columns, so that a small upload makes a large result.
 */
export function resultBytesMax(
  { operation, fields, live }: Pick<ListBatch, 'operation' | 'fields' | 'live'>,
  { bytes, rows, width }: ListSize,
): number {
  const delimiters = width + outputColumns(operation, fields).length;
  const answer = live ? 0 : TEST_ANSWER_BYTES;
  return bytes * BYTES_OF_A_BYTE + rows * (delimiters + ROW_BYTES + answer);
}
