/** The frame of adapters of contacts and accounts in CSV: how a file is recognised, and its rows. */
import type { SourceRow } from '../core/graph/sources/source-record.ts';
import { delimiters } from '../formats/csv/record-table.ts';
import type { Dataset, PartHead } from './adapter.ts';
import { type CsvRow, hasNames, readCsvRows, rejectUnnamed } from './csv-rows.ts';
import type { SourcePart } from './source-files.ts';

type ReadRow = (row: CsvRow) => SourceRow;

/** Returns the dataset when one of the first lines has all these columns. */
export function contactDataset(
  { text }: PartHead,
  required: readonly string[],
  readRow: ReadRow,
): Dataset | null {
  const lines = text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .slice(0, HEADER_LINES_MAX);
  const isHeader = lines.some((line) => delimiters.some((one) => hasNames(line, one, required)));
  return isHeader
    ? { snapshotOf: null, columns: required, read: (parts) => readRows(parts, required, readRow) }
    : null;
}

const HEADER_LINES_MAX = 6;

async function* readRows(
  parts: AsyncIterable<SourcePart>,
  required: readonly string[],
  readRow: ReadRow,
): AsyncGenerator<SourceRow[]> {
  for await (const part of parts) {
    for await (const rows of readCsvRows(part, { required })) {
      yield rows.map((row) => rejectUnnamed(row) ?? readRow(row));
    }
  }
}
