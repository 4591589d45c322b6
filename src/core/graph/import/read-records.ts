/**
 * Reads import files as streams of records with their lines. An unreadable record is an item with a reason, and
 * reading continues. Items come in lists, one per chunk of input, with bounded memory.
 */
import { isUtf8 } from 'node:buffer';
import { pipeline, type Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { type AppError, unprocessable } from '../../lib/errors.ts';
import { isTooDeep } from './json-depth.ts';
import type { RecordFormat } from './open-records.ts';

export type JsonRecord = Record<string, unknown>;

export interface SourceRecord {
  /** One-based physical line on which the record begins. */
  line: number;
  record: JsonRecord;
  /** Approximate bytes of the record in the file. */
  size: number;
  source: RecordSource;
}

/**
 * The source of a record, for the rejects: the bytes of its line (a view of its chunk, so it costs no memory of
 * its own), or the record itself when it came from CSV.
 */
export type RecordSource = Uint8Array | JsonRecord;

export interface UnreadableRecord {
  line: number;
  reason: string;
  source: Uint8Array;
}

export type SourceItem = SourceRecord | UnreadableRecord;

/** Maximum bytes of a record: it would be held in memory as a whole. */
const RECORD_BYTES_MAX = 16 * 1024 * 1024;
const EXCERPT_BYTES_MAX = 10_000;

/** Reads an unzipped stream to its end. Throws `AppError` `unreadable_csv` when no further record can be read. */
export function readRecords(
  input: Readable,
  format: RecordFormat,
): AsyncGenerator<SourceItem[], void, undefined> {
  return format === 'jsonl' ? readJsonLines(input) : readCsv(input);
}

async function* readJsonLines(input: Readable): AsyncGenerator<SourceItem[], void, undefined> {
  let line = 0;
  let parts: Buffer[] = [];
  let partBytes = 0;
  for await (const chunk of input as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk);
    const items: SourceItem[] = [];
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      line += 1;
      const tail = bytes.subarray(from, end);
      const isTooLong = partBytes + tail.length > RECORD_BYTES_MAX;
      const whole = parts.length === 0 ? tail : Buffer.concat([...parts, tail]);
      const item = isTooLong ? tooLong(line, whole) : parseJsonLine(whole, line);
      if (item !== null) items.push(item);
      [parts, partBytes, from] = [[], 0, end + 1];
    }
    const rest = bytes.subarray(from);
    // Only the beginning of a line that is too long is kept, for the rejects.
    if (rest.length > 0 && partBytes <= RECORD_BYTES_MAX) parts.push(Buffer.from(rest));
    partBytes += rest.length;
    if (items.length > 0) yield items;
  }
  const last = Buffer.concat(parts);
  const item =
    partBytes > RECORD_BYTES_MAX ? tooLong(line + 1, last) : parseJsonLine(last, line + 1);
  if (item !== null) yield [item];
}

function tooLong(line: number, beginning: Buffer): UnreadableRecord {
  return { line, reason: 'too_long', source: beginning.subarray(0, EXCERPT_BYTES_MAX) };
}

function parseJsonLine(bytes: Buffer, line: number): SourceItem | null {
  if (!isUtf8(bytes)) return { line, reason: 'not_utf8', source: bytes };
  const whole = bytes.toString('utf8');
  const text = line === 1 && whole.startsWith('\ufeff') ? whole.slice(1) : whole;
  if (/^\s*$/.test(text)) return null;
  const record = parseObject(text);
  if (typeof record === 'string') return { line, reason: record, source: bytes };
  return { line, record, size: bytes.length, source: bytes };
}

/** Returns the object, or the reason why there is none. */
function parseObject(text: string): JsonRecord | string {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject) return 'not_an_object';
    return isTooDeep(text, value) ? 'too_deep' : (value as JsonRecord);
  } catch {
    return 'not_json';
  }
}

interface CsvOutput {
  record: string[];
  info: { bytes: number };
}

/**
 * Reads CSV with a header of field names; empty cells are absent values. A record with a stray quote is skipped
 * with its line; when the parser takes it as the start of a quoted cell, the text up to the next closing quote is
 * skipped too.
 */
async function* readCsv(input: Readable): AsyncGenerator<SourceItem[], void, undefined> {
  const skipped: UnreadableRecord[] = [];
  const lines = new LineFinder();
  const encoding = new Utf8Check();
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error, text) => {
      const line = lines.endedBefore(Number((error as { bytes?: number } | undefined)?.bytes)) + 1;
      if (skipped.at(-1)?.line === line) return undefined;
      skipped.push({ line, reason: 'malformed_csv', source: Buffer.from(text ?? '') });
      return undefined;
    },
  });
  pipeline(readBounded(input, lines, encoding), parser, () => {
    // Reading the parser below throws the same error.
  });
  let header: string[] | null = null;
  for await (const { record, info } of parser as AsyncIterable<CsvOutput>) {
    const endings = record.reduce((sum, cell) => sum + countLineEnds(cell), 0);
    const line = lines.lineBefore(info.bytes) - endings;
    lines.forgetBefore(info.bytes);
    if (skipped.length > 0) yield skipped.splice(0);
    if (header === null) header = checkHeader(record);
    else yield [csvItem(header, record, { line, hasOtherBytes: encoding.hasOtherBytes })];
  }
  if (skipped.length > 0) yield skipped;
}

function countLineEnds(cell: string): number {
  return cell.includes('\n') ? cell.split('\n').length - 1 : 0;
}

/**
 * Maps byte positions to physical lines. The parser's own count takes a CRLF inside quotes for two lines, so it
 * would report wrong lines in the rejects.
 */
class LineFinder {
  /** Positions of the line feeds that are still needed, ascending. */
  #lineFeeds: number[] = [];
  #forgotten = 0;
  #bytes = 0;
  #bytesForgotten = 0;

  add(chunk: Buffer): void {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) {
      this.#lineFeeds.push(this.#bytes + at);
    }
    this.#bytes += chunk.length;
  }

  /** Bytes read since the last record ended. */
  bytesPending(): number {
    return this.#bytes - this.#bytesForgotten;
  }

  /** Returns the number of lines that ended before the position. */
  endedBefore(position: number): number {
    const index = this.#lineFeeds.findIndex((lineFeed) => lineFeed >= position);
    return this.#forgotten + (index < 0 ? this.#lineFeeds.length : index);
  }

  /** Returns the line of the byte before the position; a line feed belongs to the line that it ends. */
  lineBefore(position: number): number {
    return this.endedBefore(position - 1) + 1;
  }

  forgetBefore(position: number): void {
    this.#bytesForgotten = position;
    const index = this.#lineFeeds.findIndex((lineFeed) => lineFeed >= position);
    const count = index < 0 ? this.#lineFeeds.length : index;
    this.#forgotten += count;
    this.#lineFeeds.splice(0, count);
  }
}

/** Finds bytes that are not UTF-8, whatever the chunks in which the file comes. */
class Utf8Check {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  /** True from the first such byte on. The parser replaces it by U+FFFD. */
  hasOtherBytes = false;

  add(chunk: Buffer): void {
    this.#decode(chunk, true);
  }

  /** Called after the last chunk, which may end in the middle of a character. */
  end(): void {
    this.#decode(undefined, false);
  }

  #decode(chunk: Buffer | undefined, stream: boolean): void {
    if (this.hasOtherBytes) return;
    try {
      this.#decoder.decode(chunk, { stream });
    } catch {
      this.hasOtherBytes = true;
    }
  }
}

/** Passes the input on. Throws `AppError` `unreadable_csv` when a record is longer than it may be. */
async function* readBounded(
  input: Readable,
  lines: LineFinder,
  encoding: Utf8Check,
): AsyncGenerator<Buffer> {
  for await (const part of input as AsyncIterable<Buffer | string>) {
    const chunk = Buffer.from(part);
    lines.add(chunk);
    encoding.add(chunk);
    if (lines.bytesPending() > RECORD_BYTES_MAX) {
      throw unreadableCsv('A quote is not closed within 16 MiB.');
    }
    yield chunk;
  }
  encoding.end();
}

function checkHeader(cells: string[]): string[] {
  const header = cells.map((cell) => cell.trim());
  const twice = header.find((name, index) => name !== '' && header.indexOf(name) !== index);
  if (twice !== undefined) throw unreadableCsv(`The header names the field ${twice} twice.`);
  return header;
}

function csvItem(
  header: string[],
  cells: string[],
  { line, hasOtherBytes }: { line: number; hasOtherBytes: boolean },
): SourceItem {
  if (cells.length > header.length) {
    return { line, reason: 'more_cells_than_header', source: Buffer.from(cells.join(',')) };
  }
  // In such a file a U+FFFD of the text cannot be told from one that the parser put in place of other bytes.
  if (hasOtherBytes && cells.some((cell) => cell.includes('\ufffd'))) {
    return { line, reason: 'not_utf8', source: Buffer.from(cells.join(',')) };
  }
  const record: JsonRecord = {};
  let size = 0;
  for (const [index, cell] of cells.entries()) {
    const name = header[index];
    size += cell.length;
    if (cell !== '' && name !== undefined && name !== '') record[name] = cell;
  }
  return { line, record, size, source: record };
}

function unreadableCsv(message: string): AppError {
  return unprocessable('unreadable_csv', message);
}
