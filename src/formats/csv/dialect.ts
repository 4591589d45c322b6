/**
 * Detects the dialect of a CSV file from its first 64 KiB: encoding, delimiter, newline, header and the first
 * records. Explicit options override every guess.
 *
 * All byte offsets and lines here refer to the canonical file: unzipped, without byte order mark, and (unless it
 * is UTF-8 already) as `Transcoder` writes it.
 */

import { invalidParameter } from '../../core/lib/errors.ts';
import { readRecord } from './cells.ts';
import { unreadableCsv, unsupportedFile } from './csv-errors.ts';
import { guessDelimiter } from './delimiter.ts';
import { type DetectedEncoding, detectEncoding, markLength, Transcoder } from './encoding.ts';
import { detectFileKind } from './file-kind.ts';
import {
  findHeader,
  headerNames,
  isHeaderProved,
  type KnownNames,
  TITLE_ROWS_MAX,
} from './header.ts';
import { CR } from './record-reader.ts';
import {
  type CsvRecord,
  type Delimiter,
  delimiters,
  type RecordTable,
  recordFlag,
  type UnreadableReason,
  unreadableReason,
} from './record-table.ts';
import { sampleRecords } from './sample-records.ts';
import { COLUMNS_MAX, listScan, mostFrequent, type Newline } from './split.ts';
import { decodeWindows1252 } from './windows-1252.ts';

const PREVIEW_RECORDS_MAX = 20;

export interface DialectOptions {
  /** False when the file continues after the sample. */
  isWhole: boolean;
  /** As `parseEncoding` returns it. */
  encoding?: string | undefined;
  delimiter?: Delimiter | undefined;
  /** True for the text of a sheet, in which `sep=;` is a cell. */
  isSheet?: boolean;
  /**
   * The row of the header, from 1 as a spreadsheet counts: blank lines count, the lines of a cell do not. The next one
   * that is not blank is taken. 0: there is no header.
   */
  headerRow?: number | undefined;
  knownNames?: KnownNames;
}

export interface Dialect {
  encoding: string;
  /** True when nothing in the bytes proves the encoding; pass it to `Transcoder`. */
  encodingIsGuess: boolean;
  /** Bytes of the byte order mark at the start of the uploaded (unzipped) file. */
  bom: number;
  delimiter: Delimiter;
  newline: Newline;
  /** The row of the header, as in the options; 0 without a header. */
  headerRow: number;
  /** The texts of the records above the header, each cut to 200 characters. They are not rows. */
  titles: string[];
  /** Column names, trimmed, duplicates and empty ones included; null without a header. */
  header: string[] | null;
  /** The header's own text without its terminator; null without a header. */
  headerText: string | null;
  /** The header record without its terminator; both equal `firstDataByte` without a header. */
  headerByteFrom: number;
  headerByteEnd: number;
  firstDataByte: number;
  firstDataLine: number;
  /** True when the first line is Excel's `sep=;`. */
  sepLine: boolean;
  /** The first 10 records of the file, titles and header included: their rows, and their texts cut as in `titles`. */
  firstLines: { row: number; text: string }[];
  /** Cells of the first 20 data records. */
  sample: string[][];
  /** Number of data records when the whole file is known, else null. */
  records: number | null;
  /** Guesses that a person should check in the preview. */
  doubts: ('encoding' | 'delimiter' | 'header')[];
}

const TITLE_CHARACTERS_MAX = 200;
const FIRST_LINES_MAX = 10;

const none: KnownNames = { columnNames: new Set(), isColumnName: () => false };

/**
 * @param sample the first bytes of the unzipped file, 64 KiB of them or the whole
 * @throws AppError 415 `unsupported_media_type` for another kind of file (gzip included: unzip
 *   first); 422 `unreadable_csv` with the line for an empty file and for a header that cannot be
 *   read; 400 when the sample ends before the requested header. A file with a header and no rows is no error.
 */
export function detectDialect(sample: Buffer, options: DialectOptions): Dialect {
  if (detectFileKind(sample) === 'gzip') {
    throw unsupportedFile('gzip', 'This file is gzip inside gzip. Compress the CSV only once.');
  }
  const { isWhole } = options;
  const encoding = chooseEncoding(sample, options);
  const canonical = toCanonical(sample, encoding, isWhole);
  if (isBinary(canonical)) {
    throw unsupportedFile(
      'binary',
      'This file is not text. Save the list as CSV or as an Excel workbook (.xlsx) and upload that.',
    );
  }
  const sep = options.isSheet ? { bytes: 0, delimiter: null } : readSepLine(canonical);
  const body = canonical.subarray(sep.bytes);
  const guess = guessDelimiter(body, isWhole);
  const delimiter = options.delimiter ?? sep.delimiter ?? guess.delimiter;
  const firstLine = sep.bytes === 0 ? 1 : 2;
  const records = sampleRecords(body, { ...listScan(delimiter, firstLine), isWhole });
  if (records.count === 0) throw noRecord(firstLine, canonical, isWhole);

  const numbers = rowNumbers(records, firstLine);
  const { headerRow } = options;
  const found =
    headerRow === undefined
      ? findHeader(readRows(body, records, delimiter, 0), options.knownNames ?? none)
      : indexOfRow(numbers, headerRow);
  const rowsFrom = found === null ? 0 : found + 1;
  const first = records.at(found ?? 0);
  if (headerRow !== 0) checkHeader(first);
  const rows = readRows(body, records, delimiter, rowsFrom);
  const isDelimiterGuess = options.delimiter === undefined && sep.delimiter === null;
  const isHeaderGuess = headerRow === undefined && found !== null;

  const doubts: Dialect['doubts'] = [];
  if (options.encoding === undefined && encoding.isGuess) doubts.push('encoding');
  if (isDelimiterGuess && guess.isDoubtful) doubts.push('delimiter');
  if (isHeaderGuess && (found > 0 || !isHeaderProved(rows))) doubts.push('header');
  const header = found === null ? null : readRecord(body, first, delimiter);
  const dataFrom = found === null ? 0 : first.end + first.terminator;
  return {
    encoding: encoding.encoding,
    encodingIsGuess: encoding.isGuess,
    bom: encoding.bom,
    delimiter,
    newline: dominantNewline(body, records) ?? '\n',
    headerRow: found === null ? 0 : (numbers[found] ?? 0),
    titles: shownTexts(body, records, Math.min(found ?? 0, TITLE_ROWS_MAX)),
    firstLines: shownTexts(body, records, Math.min(records.count, FIRST_LINES_MAX)).map(
      (text, index) => ({ row: numbers[index] ?? 0, text }),
    ),
    header: header === null ? null : headerNames(header),
    headerText: header === null ? null : textOf(body, first),
    headerByteFrom: sep.bytes + (header === null ? 0 : first.start),
    headerByteEnd: sep.bytes + (header === null ? 0 : first.end),
    firstDataByte: sep.bytes + dataFrom,
    firstDataLine: found === null ? firstLine : (records.lineAfter[found] as number),
    sepLine: sep.bytes > 0,
    sample: rows.slice(0, PREVIEW_RECORDS_MAX),
    records: isWhole ? records.count - rowsFrom : null,
    doubts,
  };
}

/** Control characters that a text may have by accident, and their share of all bytes. */
const CONTROLS_MAX = 32;
const CONTROL_SHARE_MAX = 0.02;

/** True for bytes that are no text in any encoding: random ones have more than ten percent of control characters. */
function isBinary(canonical: Buffer): boolean {
  let controls = 0;
  for (const byte of canonical) {
    // Tab, line breaks and form feeds are in texts.
    if (byte < 0x20 && (byte < 0x09 || byte > 0x0d)) controls++;
  }
  return controls > CONTROLS_MAX && controls > canonical.length * CONTROL_SHARE_MAX;
}

/** The rows at which the records begin, as a spreadsheet counts them. */
function rowNumbers({ count, line, lineAfter }: RecordTable, firstLine: number): number[] {
  let blank = 0;
  return Array.from({ length: count }, (_, index) => {
    blank += (line[index] ?? 0) - (index === 0 ? firstLine : (lineAfter[index - 1] ?? 0));
    return index + 1 + blank;
  });
}

/** The index of the record at this row or the first one after it; null for row 0. */
function indexOfRow(numbers: readonly number[], row: number): number | null {
  if (row === 0) return null;
  const index = numbers.findIndex((number) => number >= row);
  if (index !== -1) return index;
  throw invalidParameter(
    'header_row',
    `there is no row ${row} in the first ${numbers.at(-1)} rows. Send the number of the row with the column names, or 0 when there is none`,
  );
}

function chooseEncoding(sample: Buffer, options: DialectOptions): DetectedEncoding {
  const { encoding } = options;
  if (encoding === undefined) return detectEncoding(sample, options.isWhole);
  return { encoding, bom: markLength(sample, encoding), isGuess: false };
}

function toCanonical(sample: Buffer, encoding: DetectedEncoding, isWhole: boolean): Buffer {
  const transcoder = new Transcoder(encoding);
  const start = transcoder.push(sample.subarray(encoding.bom));
  return isWhole ? Buffer.concat([start, transcoder.finish()]) : start;
}

/** Excel's first line `sep=;`, which other programs take for a header. */
function readSepLine(canonical: Buffer): { bytes: number; delimiter: Delimiter | null } {
  const line = /^"?sep=(.)"?(?:\r\n|\n|\r|$)/i.exec(canonical.toString('latin1', 0, 16));
  if (line === null) return { bytes: 0, delimiter: null };
  const delimiter = delimiters.find((known) => known === line[1]);
  if (delimiter === undefined) {
    throw unreadableCsv(1, `the delimiter of "sep=${line[1]}" is not supported. Use , ; | or tab.`);
  }
  return { bytes: line[0].length, delimiter };
}

/**
 * Returns Excel's first line, for a file that is written here: after it no text of a row is taken for such a line, or for the
 * mark of an encoding, and every row keeps its number.
 */
export function sepLine(delimiter: Delimiter, newline: string): string {
  return `sep=${delimiter}${newline}`;
}

/** The cells of some records from this index on: enough to find a header below titles, and for a preview. */
function readRows(
  body: Buffer,
  records: RecordTable,
  delimiter: Delimiter,
  from: number,
): string[][] {
  const rows: string[][] = [];
  const to = Math.min(records.count, from + TITLE_ROWS_MAX + PREVIEW_RECORDS_MAX + 1);
  for (let index = from; index < to; index++) {
    rows.push(readRecord(body, records.at(index), delimiter));
  }
  return rows;
}

const headerTrouble: Record<UnreadableReason, string> = {
  open_quote: 'a quote is opened in the header and never closed',
  record_too_long: 'the header is longer than the maximum of a record',
  too_many_columns: `the header has more than ${COLUMNS_MAX} columns`,
  nul_byte: 'the header contains a NUL byte; the file may not be text',
};

/** The header names the columns, or the first record at least shows them: without it nothing can be mapped. */
function checkHeader(first: CsvRecord): void {
  const reason = unreadableReason(first.flags);
  if (reason !== null) throw unreadableCsv(first.line, `${headerTrouble[reason]}.`);
}

function noRecord(firstLine: number, canonical: Buffer, isWhole: boolean): Error {
  if (isWhole) {
    return unreadableCsv(firstLine, 'the file is empty. Upload a header and at least one row.');
  }
  return unreadableCsv(
    firstLine,
    `no record ends within the first ${canonical.length} bytes. Check quotes and line ends.`,
  );
}

/** The texts of the first records, for people to read. */
function shownTexts(body: Buffer, records: RecordTable, count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    textOf(body, records.at(index)).slice(0, TITLE_CHARACTERS_MAX),
  );
}

function textOf(body: Buffer, { start, end, flags }: CsvRecord): string {
  const bytes = body.subarray(start, end);
  return flags & recordFlag.invalidUtf8 ? decodeWindows1252(bytes) : bytes.toString('utf8');
}

function dominantNewline(body: Buffer, records: RecordTable): Newline | null {
  const counts: Record<Newline, number> = { '\r\n': 0, '\n': 0, '\r': 0 };
  for (let index = 0; index < records.count; index++) {
    const { end, terminator } = records.at(index);
    if (terminator === 2) counts['\r\n']++;
    else if (terminator === 1) counts[body[end] === CR ? '\r' : '\n']++;
  }
  return mostFrequent(counts);
}
