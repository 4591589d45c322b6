/** Rows of CSV files of sources, by the names of their header, in any encoding. */
import { type SourceRow, seenOf } from '../core/graph/sources/source-record.ts';
import { must } from '../core/lib/assert.ts';
import { unprocessable } from '../core/lib/errors.ts';
import { readColumns, readRecord } from '../formats/csv/cells.ts';
import { detectEncoding, markLength, Transcoder } from '../formats/csv/encoding.ts';
import { type RecordBatch, RecordScanner } from '../formats/csv/record-scanner.ts';
import { type Delimiter, delimiters, unreadableReason } from '../formats/csv/record-table.ts';
import type { Encoding } from '../formats/csv/windows-1252.ts';
import type { SourcePart } from './source-files.ts';
import { LINE_BYTES_MAX, lineTooLong } from './text-lines.ts';

export interface CsvForm {
  /** Otherwise the one of the header, or that is most frequent in the first rows. */
  delimiter?: Delimiter;
  /** The encoding is guessed like that of a list; otherwise it is UTF-8, UTF-16 or Windows-1252. */
  isOfAnyEncoding?: boolean;
  /** Names that the header has; rows above it are skipped. */
  required: readonly string[];
}

/** One row: its cells by name, trimmed of nothing; '' for a column that the row or the header lacks. */
export interface CsvRow {
  line: number;
  /** Cells of the row, and of the header. */
  width: number;
  headerWidth: number;
  /** The file ends with the row, without the end of a line. */
  isCutOff: boolean;
  /** The reason why the row cannot be read as cells, or null. */
  unreadable: string | null;
  get(name: string): string;
  /** All cells, for rows whose columns moved. */
  cells(): string[];
  /** The row's cells by name, for the rejects. */
  source(): Record<string, string>;
}

const HEADER_ROWS_MAX = 30;
/** Cells of a batch that are read at once. Files that exist have a few hundred columns. */
const CELLS_AT_ONCE_MAX = 4_000_000;
const SAMPLE_BYTES = 64 * 1024;

/**
 * Reads a CSV file. Header names are trimmed; the second of two equal names is `name (2)`. Throws `AppError` 422
 * `unknown_columns` that names the file and the first missing column when no row has the required names, and
 * `line_too_long`.
 */
export async function* readCsvRows(
  { name, bytes }: SourcePart,
  form: CsvForm,
): AsyncGenerator<CsvRow[]> {
  const utf8 = toUtf8(bytes, form)[Symbol.asyncIterator]();
  const first = await utf8.next();
  const delimiter = form.delimiter ?? delimiterOf(first.value ?? Buffer.alloc(0), form.required);
  const header = new HeaderFinder(name, form.required, delimiter);
  const scanner = new RecordScanner({ delimiter });
  const rowsOf = (batch: RecordBatch): CsvRow[] => {
    const from = header.columns === null ? header.find(batch) : 0;
    if (header.columns === null) return [];
    return readBatch(batch, header.columns, { from, delimiter, isHeader: header.againIn(batch) });
  };
  for (let next = first; !next.done; next = await utf8.next()) {
    const batch = scanner.push(next.value);
    if (scanner.undecidedBytes > LINE_BYTES_MAX) throw lineTooLong(scanner.nextLine);
    if (batch === null || batch.records.count === 0) continue;
    const rows = rowsOf(batch);
    if (rows.length > 0) yield rows;
  }
  const rows = rowsOf(scanner.finish());
  if (header.columns === null) throw header.missing();
  if (rows.length > 0) yield rows;
}

/**
 * Tabs in an export of Excel, semicolons where the comma is a decimal sign. A cell with a list may have more of them than the
 * row, so the header decides, unless it is not as plain as headers are.
 */
function delimiterOf(head: Buffer, required: readonly string[]): Delimiter {
  const lines = head
    .subarray(0, SAMPLE_BYTES)
    .toString('utf8')
    .split('\n')
    .slice(0, HEADER_ROWS_MAX);
  const named = delimiters.find((one) => lines.some((line) => hasNames(line, one, required)));
  if (named !== undefined) return named;
  const text = lines.join('\n');
  const counts = delimiters.map((delimiter) => ({
    delimiter,
    count: text.split(delimiter).length,
  }));
  return counts.reduce((most, one) => (one.count > most.count ? one : most)).delimiter;
}

/** Returns true for a line that is a header with these names. */
export function hasNames(line: string, delimiter: Delimiter, names: readonly string[]): boolean {
  const cells = line.split(delimiter).map((cell) => cell.trim().replace(/^\ufeff?"|"$/g, ''));
  const found = new Set(numberedNames(cells));
  return names.every((name) => found.has(name));
}

class HeaderFinder {
  columns: Map<string, number> | null = null;
  readonly #file: string;
  readonly #required: readonly string[];
  readonly #delimiter: Delimiter;
  /** The names of the row that has most of the required ones. */
  #nearest: readonly string[] = [];
  #nearestCount = -1;

  constructor(file: string, required: readonly string[], delimiter: Delimiter) {
    this.#file = file;
    this.#required = required;
    this.#delimiter = delimiter;
  }

  /** Looks for the header among the first rows; returns the index of the row after it. */
  find({ buffer, records }: RecordBatch): number {
    for (let index = 0; index < Math.min(records.count, HEADER_ROWS_MAX); index++) {
      const names = numberedNames(readRecord(buffer, records.at(index), this.#delimiter));
      const count = this.#required.filter((name) => names.includes(name)).length;
      if (count > this.#nearestCount) [this.#nearest, this.#nearestCount] = [names, count];
      if (count < this.#required.length) continue;
      this.columns = new Map(names.map((name, column) => [name, column]));
      return index + 1;
    }
    if (records.count > 0) throw this.missing();
    return 0;
  }

  /**
   * Returns the function that tells whether a row, by its index and a function for its cells, is the header again: files were
   * put together. Throws `AppError` 422 `unknown_columns` for the header of other columns, by which the rows after it are read.
   */
  againIn({ buffer, records }: RecordBatch): (index: number, cellAt: CellAt) => boolean {
    const columns = must(this.columns, 'a header');
    const [first = ''] = this.#required;
    const column = must(columns.get(first), first);
    return (index, cellAt) => {
      // Most rows have a value there that is the name of no column.
      if (!columns.has(cellAt(index, column).trim())) return false;
      const cells = readRecord(buffer, records.at(index), this.#delimiter);
      const names = new Map(numberedNames(cells).map((name, at) => [name, at]));
      if (!this.#required.every((name) => names.has(name))) return false;
      if (this.#required.every((name) => names.get(name) === columns.get(name))) return true;
      throw unprocessable(
        'unknown_columns',
        `Line ${records.line[index]} of ${this.#file} is a header of other columns; nothing was changed. Import the files of which it was made one by one.`,
      );
    };
  }

  missing(): Error {
    const name = this.#required.find((required) => !this.#nearest.includes(required)) ?? '';
    return unprocessable(
      'unknown_columns',
      `${this.#file} has no column ${name}; nothing was changed. Check that it is the file of this source.`,
    );
  }
}

/** Returns why a row has not one cell for each name of the header; null when it has. */
export function unevenReason({
  width,
  headerWidth,
}: Pick<CsvRow, 'width' | 'headerWidth'>): string | null {
  if (width === headerWidth) return null;
  return width > headerWidth ? 'more_cells_than_header' : 'fewer_cells_than_header';
}

/**
 * Returns the rejection of a row that cannot be read as cells; null for others.
 * @param keysIn the keys that its text may name, as `seen` of the row
 */
export function rejectUnreadable(
  row: CsvRow,
  keysIn: (text: string) => readonly string[],
): SourceRow | null {
  const { line, unreadable } = row;
  if (unreadable === null) return null;
  const source = row.cells();
  return { line, reason: unreadable, source, ...seenOf(...keysIn(source.join(' '))) };
}

/**
 * Returns the rejection of a row whose cells have no names: an unreadable one, and one with more cells than the header; null
 * for others. Programs leave out empty cells at the end of a row, or add some.
 */
export function rejectUnnamed(row: CsvRow): SourceRow | null {
  const { line, unreadable, width, headerWidth } = row;
  if (unreadable !== null) return { line, reason: unreadable, source: row.cells() };
  if (row.isCutOff && width < headerWidth) {
    return { line, reason: 'fewer_cells_than_header', source: row.source() };
  }
  if (width <= headerWidth || !row.cells().slice(headerWidth).some(Boolean)) return null;
  return { line, reason: 'more_cells_than_header', source: row.source() };
}

/** Returns the names of a header, trimmed; the second of two equal names is `name (2)`. */
export function numberedNames(cells: readonly string[]): string[] {
  const counts = new Map<string, number>();
  const taken = new Set<string>();
  return cells.map((cell) => {
    const written = cell.replace(/^\ufeff/, '').trim();
    let count = counts.get(written) ?? 0;
    let name: string;
    // The file may have a column that is written `name (2)`.
    do {
      count += 1;
      name = count === 1 ? written : `${written} (${count})`;
    } while (taken.has(name));
    counts.set(written, count);
    taken.add(name);
    return name;
  });
}

function readBatch(
  batch: RecordBatch,
  columns: ReadonlyMap<string, number>,
  {
    from,
    delimiter,
    isHeader,
  }: { from: number; delimiter: Delimiter; isHeader(index: number, cellAt: CellAt): boolean },
): CsvRow[] {
  const { buffer, records } = batch;
  const names = [...columns.keys()];
  const isWide = records.count * names.length > CELLS_AT_ONCE_MAX;
  const cellAt = isWide
    ? cellsOfRow(batch, delimiter)
    : cellsOfColumns(batch, [...columns.values()], delimiter);
  const rows: CsvRow[] = [];
  for (let index = from; index < records.count; index++) {
    const width = records.fields[index] as number;
    const get = (name: string) => {
      const column = columns.get(name);
      return column === undefined ? '' : cellAt(index, column);
    };
    rows.push({
      line: records.line[index] as number,
      width,
      headerWidth: names.length,
      isCutOff: records.terminator[index] === 0,
      unreadable:
        unreadableReason(records.flags[index] as number) ??
        (isHeader(index, cellAt) ? 'header_again' : null),
      get,
      cells: () => readRecord(buffer, records.at(index), delimiter),
      source: () =>
        Object.fromEntries(
          names
            .slice(0, width)
            .map((name) => [name, get(name)] as const)
            .filter(([, cell]) => cell !== ''),
        ),
    });
  }
  return rows;
}

type CellAt = (index: number, column: number) => string;

/** Reads all cells at once: the fastest way, in memory for each column of each row. */
function cellsOfColumns(
  { buffer, records }: RecordBatch,
  columns: readonly number[],
  delimiter: Delimiter,
): CellAt {
  const texts = readColumns(buffer, records, columns, delimiter);
  return (index, column) => texts[column]?.[index] ?? '';
}

/** Reads a row when it is asked for, and keeps the last: a hostile header has a column for each of its bytes. */
function cellsOfRow({ buffer, records }: RecordBatch, delimiter: Delimiter): CellAt {
  let read = -1;
  let cells: string[] = [];
  return (index, column) => {
    if (index !== read) {
      const isReadable = unreadableReason(records.flags[index] as number) === null;
      cells = isReadable ? readRecord(buffer, records.at(index), delimiter) : [];
      read = index;
    }
    return cells[column] ?? '';
  };
}

/**
 * Converts a file to UTF-8: from UTF-8 or UTF-16 as its beginning shows, otherwise from Windows-1252, which Outlook,
 * Excel and Salesforce write, or from the likeliest encoding.
 */
export async function* toUtf8(
  bytes: AsyncIterable<Buffer>,
  { isOfAnyEncoding = false }: Pick<CsvForm, 'isOfAnyEncoding'> = {},
): AsyncGenerator<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  let transcoder: Transcoder | null = null;
  const start = (isWhole: boolean): Buffer => {
    const { encoding, isGuess } = detectEncoding(head, isWhole);
    const isDetected = isOfAnyEncoding || encoding.startsWith('utf-');
    const source: { encoding: Encoding; isGuess: boolean } = isDetected
      ? { encoding, isGuess }
      : { encoding: 'windows-1252', isGuess: true };
    transcoder = new Transcoder(source);
    return transcoder.push(head.subarray(markLength(head, source.encoding)));
  };
  for await (const chunk of bytes) {
    if (transcoder !== null) {
      yield (transcoder as Transcoder).push(Buffer.from(chunk));
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length >= SAMPLE_BYTES) yield start(false);
  }
  if (transcoder === null) yield start(true);
  yield (transcoder as unknown as Transcoder).finish();
}
