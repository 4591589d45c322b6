/** Reads the records at the beginning of a file of which only a sample was read. */

import { type ScanOptions, scanPrefix, scanRecords } from './record-scanner.ts';
import type { RecordTable } from './record-table.ts';

/** With this many records the sample does not have to guess about its cut end. */
const RECORDS_ENOUGH = 21;

/**
 * Returns the records of a canonical sample. When the file continues after it, records that later bytes could
 * change are omitted. A stray quote near the beginning would omit nearly all (its field might close later), so
 * then the quote counts as stray and the lines are read.
 */
export function sampleRecords(
  sample: Buffer,
  { isWhole, ...options }: ScanOptions & { isWhole: boolean },
): RecordTable {
  if (isWhole) return scanRecords(sample, options);
  const sure = scanPrefix(sample, options);
  if (sure.count >= RECORDS_ENOUGH) return sure;
  const likely = scanRecords(sample, options);
  if (likely.count > 0) {
    const last = likely.at(likely.count - 1);
    if (last.end + last.terminator === sample.length) likely.count--;
  }
  return likely;
}
