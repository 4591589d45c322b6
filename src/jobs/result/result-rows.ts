/** Reads a result back from its recorded parts, cell by cell, one part in memory at a time. */
import { readRecord } from '../../formats/csv/cells.ts';
import { scanRecords } from '../../formats/csv/record-scanner.ts';
import type { Delimiter } from '../../formats/csv/record-table.ts';
import type { ReadPart } from './read-parts.ts';

export interface ResultRow {
  /** Number of the row in the list, from 1. */
  row: number;
  cells: string[];
  /** Blank lines that stand before the row. */
  blankLines: number;
}

/** The rows of these parts, in order. */
export async function* readResultRows(
  parts: AsyncIterable<ReadPart>,
  delimiter: Delimiter,
): AsyncGenerator<ResultRow> {
  for await (const { bytes, firstRow } of parts) {
    let row = firstRow - 1;
    const records = scanRecords(bytes, { delimiter });
    let lineBefore = 1;
    for (let index = 0; index < records.count; index++) {
      row++;
      const blankLines = (records.line[index] ?? 0) - lineBefore;
      lineBefore = records.lineAfter[index] ?? 0;
      yield { row, cells: readRecord(bytes, records.at(index), delimiter), blankLines };
    }
  }
}
