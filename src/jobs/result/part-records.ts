/** The records of a part. */
import { type ScanOptions, scanRecords } from '../../formats/csv/record-scanner.ts';
import type { Delimiter, RecordTable } from '../../formats/csv/record-table.ts';

/**
 * Returns how a part is scanned: without the limit of a list's records. The limit detects a stray quote in a list, and a
 * part has none: a row is as long as its own text and the record that answers it.
 */
export function partScan(delimiter: Delimiter): ScanOptions {
  return { delimiter, recordBytesMax: Number.POSITIVE_INFINITY };
}

/** Returns the rows of a part, or of whole rows of one. */
export function scanPart(bytes: Buffer, delimiter: Delimiter): RecordTable {
  return scanRecords(bytes, partScan(delimiter));
}
