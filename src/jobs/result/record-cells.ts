/**
 * Copies cells of a stored record (text separated by unit separators) into CSV. Works on bytes, because a batch
 * copies every field of every match, and quotes only the cells that need it.
 */
import type { RecordBytes } from '../../core/enrich/match-data.ts';
import { CELL_SEPARATOR_BYTE } from '../../core/graph/record.ts';
import type { ByteWriter } from '../../formats/csv/byte-writer.ts';

const QUOTE = 0x22;
const CR = 0x0d;
const LF = 0x0a;

/** Positions of the cells to copy, in ascending order. */
export type CellSelection = readonly number[];

/**
 * Appends the selected cells, each after a delimiter. Counts non-empty ones in `filled`, from position
 * `firstColumn` on.
 */
export function appendRecordCells(
  writer: ByteWriter,
  record: RecordBytes,
  selection: CellSelection,
  delimiter: number,
  filled: number[],
  firstColumn: number,
): void {
  const { bytes, to } = record;
  // Worst case: every byte is a quote that doubles, and each cell gets a delimiter and two quotes.
  writer.reserve((to - record.from) * 2 + selection.length * 3);
  const out = writer.bytes;
  let length = writer.length;
  let at = record.from;
  let cell = 0;
  let column = firstColumn;
  for (const wanted of selection) {
    for (; cell < wanted; cell++) {
      while (at < to && bytes[at] !== CELL_SEPARATOR_BYTE) at++;
      at++;
    }
    out[length++] = delimiter;
    const cellFrom = at;
    const lengthBefore = length;
    let quoted = false;
    for (; at < to; at++) {
      const byte = bytes[at] as number;
      if (byte === CELL_SEPARATOR_BYTE) break;
      if (byte === delimiter || byte === QUOTE || byte === LF || byte === CR) quoted = true;
      out[length++] = byte;
    }
    if (at > cellFrom) filled[column] = (filled[column] as number) + 1;
    column++;
    if (quoted) length = quoteCell(out, lengthBefore, bytes, cellFrom, at);
    at++;
    cell++;
  }
  writer.length = length;
}

/** Rewrites the cell quoted (RFC 4180 section 2); returns the new length. */
function quoteCell(out: Buffer, start: number, bytes: Buffer, from: number, to: number): number {
  let length = start;
  out[length++] = QUOTE;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) out[length++] = QUOTE;
    out[length++] = byte;
  }
  out[length++] = QUOTE;
  return length;
}
