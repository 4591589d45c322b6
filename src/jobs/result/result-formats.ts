/**
 * The formats of a result. The stored format is CSV; the others are converted from it while it is read, one
 * part at a time.
 */
import type { OutputColumn } from '../../core/enrich/match-data.ts';
import { cellToJson } from '../../core/graph/record.ts';
import { encodeCell, looksTyped } from '../../formats/csv/quote-cell.ts';
import type { Delimiter } from '../../formats/csv/record-table.ts';
import type { XlsxCell } from '../../formats/xlsx/write-xlsx.ts';
import { readCandidates } from './candidates-cell.ts';
import { matchColumns } from './render-part.ts';
import type { ResultRow } from './result-rows.ts';

/** The columns of a result, from left to right: the list's own, the match, the operation's. */
export interface ResultLayout {
  delimiter: Delimiter;
  newline: string;
  /** True for a list that begins with a byte order mark: its CSV begins with one too. */
  hasMark: boolean;
  /** Names of all columns. */
  names: readonly string[];
  /** The list's header as written, with its number of columns; null without one. */
  headerText: string | null;
  headerWidth: number;
  /** Number of the list's own columns. */
  width: number;
  /** True when the rows have match columns; those of an export do not. */
  matches: boolean;
  /** Match columns after `matchColumns`. */
  further: readonly string[];
  columns: readonly OutputColumn[];
}

/** Without it Excel reads UTF-8 as Windows-1252. */
export const BYTE_ORDER_MARK = '\ufeff';

/**
 * CSV that a spreadsheet opens without running formulas, with a byte order mark: text cells that it would take for a formula get
 * an apostrophe prefix. Values of a known form (numbers, times, E.164) are unchanged.
 */
export async function* toSafeCsv(
  rows: AsyncIterable<ResultRow>,
  layout: ResultLayout,
): AsyncGenerator<string> {
  const { delimiter, newline, names, width, columns } = layout;
  const firstAdded = names.length - columns.length;
  const style = { delimiter, safe: true };
  const line = (cells: readonly string[], isTyped: (cell: string, index: number) => boolean) =>
    cells.map((cell, index) => encodeCell(cell, style, isTyped(cell, index))).join(delimiter);
  yield BYTE_ORDER_MARK + line(names, () => false) + newline;
  for await (const { cells, blankLines } of rows) {
    const text = line(cells, (cell, index) =>
      index < width ? looksTyped(cell) : (columns[index - firstAdded]?.typed ?? false),
    );
    yield newline.repeat(blankLines) + text + newline;
  }
}

/** The rows of a workbook: the header, then every row; blank lines are empty rows. */
export async function* toSheet(
  rows: AsyncIterable<ResultRow>,
  { names, width, columns }: ResultLayout,
): AsyncGenerator<XlsxCell[] | number> {
  const firstAdded = names.length - columns.length;
  yield names.map((text) => ({ text, typed: false }));
  for await (const { cells, blankLines } of rows) {
    if (blankLines > 0) yield blankLines;
    yield cells.map((text, index) => {
      const typed = index >= width && (columns[index - firstAdded]?.typed ?? false);
      return { text, typed };
    });
  }
}

/** One JSON object per row: `{row, input, match, person|company|email|financials}`, or just the person. */
export async function* toJsonLines(
  rows: AsyncIterable<ResultRow>,
  layout: ResultLayout,
): AsyncGenerator<string> {
  if (!layout.matches) return yield* toPeopleLines(rows, layout);
  const inputNames = uniqueNames(layout.names.slice(0, layout.width));
  for await (const { row, cells } of rows) {
    const input = Object.fromEntries(inputNames.map((name, index) => [name, cells[index] ?? '']));
    const match = readMatch(cells, layout);
    const answer = readAnswer(cells, layout, hasAnswer(match.status, cells, layout));
    yield `${JSON.stringify({ row, input, match, ...answer })}\n`;
  }
}

/** One person per line, in the format of the search response. */
async function* toPeopleLines(
  rows: AsyncIterable<ResultRow>,
  layout: ResultLayout,
): AsyncGenerator<string> {
  for await (const { cells } of rows) {
    yield `${JSON.stringify(readAnswer(cells, layout, true).person)}\n`;
  }
}

function readMatch(cells: readonly string[], { width, further }: ResultLayout) {
  const cell = (name: (typeof matchColumns)[number]) =>
    cells[width + matchColumns.indexOf(name)] ?? '';
  return {
    status: cell('match.status'),
    by: cell('match.by') || null,
    reason: cell('match.reason') || null,
    conflict: cell('match.conflict') === 'true',
    credits: Number(cell('match.credits')),
    ...Object.fromEntries(
      further.map((name, index) => [
        name.slice(name.indexOf('.') + 1),
        furtherValue(name, cells[width + matchColumns.length + index] ?? ''),
      ]),
    ),
  };
}

/** The JSON value of a further match column: of candidates a list of objects. */
function furtherValue(name: string, cell: string): unknown {
  if (name === 'match.probability') return cell === '' ? null : Number(cell);
  if (name !== 'match.candidates') return cell || null;
  return readCandidates(cell);
}

/** True for a match, and for a duplicate with the data of its record. */
function hasAnswer(
  status: string,
  cells: readonly string[],
  { names, columns }: ResultLayout,
): boolean {
  if (status !== 'duplicate') return status === 'matched';
  return cells.slice(names.length - columns.length).some((cell) => cell !== '');
}

/** The added columns as objects by the prefix before the dot; null for a row that did not match. */
function readAnswer(
  cells: readonly string[],
  { names, columns }: ResultLayout,
  matched: boolean,
): Record<string, unknown> {
  const answer: Record<string, Record<string, unknown> | null> = {};
  const firstAdded = names.length - columns.length;
  for (const [index, column] of columns.entries()) {
    const dot = column.header.indexOf('.');
    const group = column.header.slice(0, dot);
    if (!matched) {
      answer[group] = null;
      continue;
    }
    const object = answer[group] ?? {};
    object[column.header.slice(dot + 1)] = cellToJson(column.json, cells[firstAdded + index] ?? '');
    answer[group] = object;
  }
  return answer;
}

/** Names of the list's columns as keys: an empty name is numbered, a repeated one gets `_2`. */
function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((given, index) => {
    const base = given === '' ? `column_${index + 1}` : given;
    let name = base;
    for (let copy = 2; taken.has(name); copy++) name = `${base}_${copy}`;
    taken.add(name);
    return name;
  });
}
