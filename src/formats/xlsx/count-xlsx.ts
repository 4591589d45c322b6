/**
 * Counts what the rows of a result take as a sheet from the bytes of their CSV, in a fifth of the time of writing it. A
 * connection that is silent for a minute while a response is prepared is taken for a stalled one.
 */

import { isUtf8 } from 'node:buffer';
import { fieldEnd } from '../csv/cells.ts';
import { QUOTE } from '../csv/record-reader.ts';
import type { Delimiter } from '../csv/record-table.ts';
import { cellCharsMax, SHEET_COLUMNS_MAX } from './limits.ts';
import {
  columnName,
  rowAfter,
  rowElement,
  rowXml,
  SHEET_BEGIN,
  SHEET_END,
  textCell,
} from './write-xlsx.ts';

export interface CsvRow {
  /** As CSV, without the end of the line. */
  text: Buffer;
  cells: readonly string[];
  /** Number of empty rows before it. */
  blankLines: number;
}

/**
 * Returns an upper bound on the bytes of the sheet, about a tenth above them. Reads the cells of long rows only. Throws
 * `AppError` 422 `not_as_xlsx` as `rowsToXlsx`, at the first row, column or cell that exceeds Excel's limits.
 */
export async function sheetBytesMax(
  rows: AsyncIterable<CsvRow>,
  delimiter: Delimiter,
): Promise<number> {
  const delimiterByte = delimiter.charCodeAt(0);
  let bytes = SHEET_BEGIN.length + SHEET_END.length;
  let number = 0;
  for await (const row of rows) {
    number = rowAfter(number, row.blankLines + 1);
    bytes += isRead(row.text)
      ? Buffer.byteLength(rowXml(row.cells.map(asText), number))
      : rowBytesMax(row.text, number, delimiterByte);
  }
  return bytes;
}

/** No row of so many bytes has a cell too long or a column too many. */
const COUNTED_BYTES_MAX = Math.min(cellCharsMax, SHEET_COLUMNS_MAX - 1);

/** True for a row whose bytes do not show enough; those that are not UTF-8 become longer ones. */
function isRead(text: Buffer): boolean {
  return text.length > COUNTED_BYTES_MAX || !isUtf8(text);
}

const asText = (text: string) => ({ text, typed: false });

/** A cell of text without its reference and its text; a number takes less. */
const CELL_BYTES = textCell('', 'x').length - 1;
/** Bytes that white space at an end of a cell, a tab or a line feed adds to it. */
const SPACE_BYTES = textCell('', ' ').length - 1 - CELL_BYTES;

/** An upper bound on the XML of a row, from its CSV. */
function rowBytesMax(text: Buffer, row: number, delimiterByte: number): number {
  const digits = String(row).length;
  let bytes = rowElement(row, '').length;
  for (let from = 0, column = 0; from < text.length; column++, from++) {
    // Most cells of many results are empty.
    if (text[from] === delimiterByte) continue;
    const to = fieldEnd(text, from, text.length, delimiterByte);
    bytes += CELL_BYTES + columnName(column).length + digits;
    const hasSpace = mayBeSpace(text[from] as number) || mayBeSpace(text[to - 1] as number);
    if (hasSpace) bytes += SPACE_BYTES;
    for (; from < to; from++) bytes += costs[text[from] as number] as number;
  }
  return bytes;
}

/** White space of ASCII, a byte of other white space, or a quote, before which there may be some. */
function mayBeSpace(byte: number): boolean {
  return byte <= 0x20 || byte === QUOTE || byte >= 0x80;
}

/** For each byte of CSV the most bytes of XML that it becomes. */
const costs = new Uint8Array(256).fill(1);
// `_x000D_`, also for an underscore that begins what looks escaped.
costs.fill(7, 0, 0x20);
costs['_'.charCodeAt(0)] = 7;
for (const byte of [0x09, 0x0a]) costs[byte] = 1 + SPACE_BYTES;
costs['&'.charCodeAt(0)] = 5;
for (const markup of '<>') costs[markup.charCodeAt(0)] = 4;
// U+FFFE and U+FFFF become `_xFFFF_`; other characters that begin with this byte stay three.
costs[0xef] = 5;
