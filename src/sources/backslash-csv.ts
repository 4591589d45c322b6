/** CSV whose quotes are escaped by a backslash inside quotes; records may contain line ends there. */
import { lineTooLong } from './text-lines.ts';

/** The beginning of a row is read again with each piece of it, so a long one takes quadratic time. Rows have some kilobytes. */
const ROW_CHARACTERS_MAX = 256 * 1024;

export interface BackslashRow {
  /** One-based line on which the row begins. */
  line: number;
  cells: string[];
}

/**
 * Reads rows in batches. A backslash before anything but a quote is itself. Throws `AppError` 422 `line_too_long`.
 */
export async function* readBackslashCsv(
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<BackslashRow[]> {
  const decoder = new TextDecoder('utf-8');
  let rest = '';
  let line = 1;
  for await (const chunk of bytes) {
    const { rows, at, next } = readRows(
      rest + decoder.decode(chunk, { stream: true }),
      line,
      false,
    );
    rest = at;
    line = next;
    if (rest.length > ROW_CHARACTERS_MAX) throw lineTooLong(line, ROW_CHARACTERS_MAX);
    if (rows.length > 0) yield rows;
  }
  const { rows, at, next } = readRows(rest + decoder.decode(), line, true);
  // The text from a quote that is never closed is one cell, not nothing.
  if (at !== '') rows.push({ line: next, cells: [at] });
  if (rows.length > 0) yield rows;
}

/** Returns whole rows, the text after them, and its line. */
function readRows(
  text: string,
  firstLine: number,
  isLast: boolean,
): { rows: BackslashRow[]; at: string; next: number } {
  const rows: BackslashRow[] = [];
  let line = firstLine;
  let start = 0;
  while (start < text.length) {
    const row = readRow(text, start, isLast);
    if (row === null) break;
    if (row.cells.length > 1 || row.cells[0] !== '') rows.push({ line, cells: row.cells });
    line += row.lines;
    start = row.end;
  }
  return { rows, at: text.slice(start), next: line };
}

/** Reads one row; null when the text ends before it does. */
function readRow(
  text: string,
  start: number,
  isLast: boolean,
): { cells: string[]; end: number; lines: number } | null {
  const cells: string[] = [];
  let lines = 1;
  let cell = '';
  let isQuoted = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at] as string;
    if (isQuoted) {
      if (character === '\\' && text[at + 1] === '"' && !isClosing(text, at + 1)) {
        cell += '"';
        at += 1;
      } else if (character === '"') isQuoted = false;
      else {
        if (character === '\n') lines += 1;
        cell += character;
      }
    } else if (character === '"' && cell === '') isQuoted = true;
    else if (character === ',') {
      cells.push(cell);
      cell = '';
    } else if (character === '\n') {
      cells.push(cell.endsWith('\r') ? cell.slice(0, -1) : cell);
      return { cells, end: at + 1, lines };
    } else cell += character;
  }
  return isLast && !isQuoted ? { cells: [...cells, cell], end: text.length, lines } : null;
}

/** A literal backslash at the end of a cell looks like an escaped quote: the quote closes when no other can. */
function isClosing(text: string, quote: number): boolean {
  const after = text[quote + 1];
  if (after !== ',' && after !== '\n' && after !== '\r' && after !== undefined) return false;
  const lineEnd = text.indexOf('\n', quote);
  const rest = text.slice(quote + 1, lineEnd < 0 ? undefined : lineEnd);
  // Quotes that follow on the line are balanced only when this one has closed the cell.
  return (rest.replaceAll('\\"', '').match(/"/g)?.length ?? 0) % 2 === 0;
}
