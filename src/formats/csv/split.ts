/**
 * Splits a canonical file into chunks, each a byte range of whole records, so that a worker can read its part
 * alone. The only pass over the whole file: it also counts everything that must be known before the first row
 * runs, and refuses files beyond the limits.
 */

import { readRecord } from './cells.ts';
import { ChunkSums } from './chunk-sums.ts';
import { tooManyRows, unreadableCsv } from './csv-errors.ts';
import { CR } from './record-reader.ts';
import { type RecordBatch, RecordScanner, type ScanOptions } from './record-scanner.ts';
import {
  type Delimiter,
  recordFlag,
  type UnreadableReason,
  unreadableReason,
} from './record-table.ts';

export type Newline = '\r\n' | '\n' | '\r';

export const ROWS_MAX = 1_000_000;
export const COLUMNS_MAX = 512;
export const CHUNK_BYTES_MAX = 2 * 1024 * 1024;
/** Excel: maximum characters of a cell. A record of fewer bytes has no longer cell. */
export const LONG_CELL_CHARS = 32_767;
/** Maximum number of lines that the totals name for each kind of problem. */
const LINES_NAMED_MAX = 20;

export interface SplitOptions extends ScanOptions {
  /** Offset of the source's first byte in the canonical file (its first data byte). */
  firstByte?: number;
  rowsMax?: number;
  chunkRowsMax: number;
  chunkBytesMax?: number;
}

/** A part of the file that begins at a record, or at the blank lines before it. */
export interface Chunk {
  /** Offsets in the canonical file, `byteTo` exclusive and after the last terminator. */
  byteFrom: number;
  byteTo: number;
  /** One-based number of its first data row. */
  firstRow: number;
  /** One-based physical line at `byteFrom`: the `firstLine` for scanning the chunk again. */
  firstLine: number;
  rows: number;
  /** CRC-32 of its bytes. */
  crc32: number;
}

export interface SplitTotals {
  rows: number;
  /** Physical lines from the source's first byte on, blank ones and those in quotes included. */
  lines: number;
  bytes: number;
  /** Characters (UTF-16 units) of the longest cell that may exceed a workbook's maximum; otherwise 0. */
  longestCell: number;
  /** Width of the widest record; 0 without records. */
  widestFieldCount: number;
  /** The most frequent terminator; null when no record has one. */
  dominantNewline: Newline | null;
  blankLines: number;
  /** `firstLines` names at most 20. */
  unreadable: { count: number; firstLines: { line: number; reason: UnreadableReason }[] };
  invalidUtf8: { count: number; firstLines: number[] };
}

/** Returns how the records of a list are scanned: one of more cells than a list may have columns cannot be read. */
export function listScan(delimiter: Delimiter, firstLine = 1): ScanOptions {
  return { delimiter, firstLine, columnsMax: COLUMNS_MAX };
}

/**
 * Splits the data part of a canonical file.
 * @param source its bytes from the first data record on, in Buffers of any size
 * @returns chunks of at most `chunkRowsMax` rows and 2 MiB that follow each other without a gap (blank
 *   lines belong to the record after them; trailing ones to the last chunk, which they may make
 *   longer), and the totals. No chunks when there is no record.
 * @throws AppError 413 `too_many_rows`; 422 `unreadable_csv` for a line, or a run of blank lines, that no chunk could hold
 */
export async function splitIntoChunks(
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
  options: SplitOptions,
): Promise<{ chunks: Chunk[]; totals: SplitTotals }> {
  const scanner = new RecordScanner({ ...listScan(options.delimiter), ...options });
  const splitter = new ChunkSplitter(options);
  for await (const buffer of source) {
    splitter.sums.push(buffer);
    const batch = scanner.push(buffer);
    if (batch === null) continue;
    splitter.add(batch);
    splitter.checkUndecided(scanner.undecidedBytes);
  }
  splitter.add(scanner.finish());
  return splitter.finish();
}

class ChunkSplitter {
  readonly #delimiter: Delimiter;
  readonly sums: ChunkSums;
  readonly #limits: Required<Omit<SplitOptions, keyof ScanOptions>>;
  readonly #chunks: Chunk[] = [];
  readonly #totals: SplitTotals;
  readonly #newlines: Record<Newline, number> = { '\r\n': 0, '\n': 0, '\r': 0 };
  readonly #firstLine: number;
  #open: Chunk | null = null;
  /** Byte and line after the last record: the start of the next one's blank lines. */
  #byteAfter: number;
  #lineAfter: number;
  #lastTerminator = 1;
  /** Byte and line up to which everything is decided. */
  #byteTo: number;
  #lineTo: number;

  constructor(options: SplitOptions) {
    this.#limits = {
      firstByte: options.firstByte ?? 0,
      rowsMax: options.rowsMax ?? ROWS_MAX,
      chunkRowsMax: options.chunkRowsMax,
      chunkBytesMax: options.chunkBytesMax ?? CHUNK_BYTES_MAX,
    };
    this.#delimiter = options.delimiter;
    this.sums = new ChunkSums(this.#limits.firstByte);
    this.#firstLine = options.firstLine ?? 1;
    this.#byteAfter = this.#limits.firstByte;
    this.#byteTo = this.#limits.firstByte;
    this.#lineAfter = this.#firstLine;
    this.#lineTo = this.#firstLine;
    this.#totals = {
      rows: 0,
      lines: 0,
      bytes: 0,
      longestCell: 0,
      widestFieldCount: 0,
      dominantNewline: null,
      blankLines: 0,
      unreadable: { count: 0, firstLines: [] },
      invalidUtf8: { count: 0, firstLines: [] },
    };
  }

  /** Takes the next records; throws at the first one beyond a limit. */
  add(batch: RecordBatch): void {
    const { records } = batch;
    const base = this.#limits.firstByte + batch.firstByte;
    for (let index = 0; index < records.count; index++) {
      const end = records.end[index] as number;
      const terminator = records.terminator[index] as number;
      const line = records.line[index] as number;
      const byteTo = base + end + terminator;
      this.#checkBytes(base + (records.start[index] as number), this.#lineAfter);
      this.#checkBytes(byteTo, line);
      this.#count(line, records.fields[index] as number, records.flags[index] as number);
      if (end - (records.start[index] as number) > LONG_CELL_CHARS) {
        const cells = readRecord(batch.buffer, records.at(index), this.#delimiter);
        for (const { length } of cells) {
          this.#totals.longestCell = Math.max(this.#totals.longestCell, length);
        }
      }
      this.#place(byteTo);
      if (terminator > 0) this.#newlines[newlineAt(batch.buffer, end, terminator)]++;
      this.#byteAfter = byteTo;
      this.#lineAfter = records.lineAfter[index] as number;
      this.#lastTerminator = terminator;
    }
    // Blank lines after the last record may belong to the next chunk.
    this.sums.addTo(this.#byteAfter);
    this.#totals.blankLines += records.blankLines;
    this.#byteTo = base + records.decidedTo;
    this.#lineTo = records.nextLine;
    this.#checkBytes(this.#byteTo, this.#lineAfter);
  }

  /** Refuses a line without an end as soon as no chunk could contain it, not at its end. */
  checkUndecided(undecidedBytes: number): void {
    this.#checkBytes(this.#byteTo + undecidedBytes, this.#lineTo);
  }

  finish(): { chunks: Chunk[]; totals: SplitTotals } {
    const totals = this.#totals;
    if (this.#open !== null) {
      this.#open.byteTo = this.#byteTo;
      this.#close(this.#open);
    }
    totals.bytes = this.#byteTo - this.#limits.firstByte;
    totals.lines = this.#lineTo - this.#firstLine + (this.#lastTerminator === 0 ? 1 : 0);
    totals.dominantNewline = mostFrequent(this.#newlines);
    return { chunks: this.#chunks, totals };
  }

  /** The bytes after the last record must fit into one chunk up to `byteTo`. */
  #checkBytes(byteTo: number, line: number): void {
    if (byteTo - this.#byteAfter <= this.#limits.chunkBytesMax) return;
    throw unreadableCsv(
      line,
      `this line, or the blank lines from here on, take more than ${this.#limits.chunkBytesMax} ` +
        'bytes. Check the delimiter and the line ends of the file.',
    );
  }

  #count(line: number, fields: number, flags: number): void {
    const totals = this.#totals;
    const { rowsMax } = this.#limits;
    if (totals.rows === rowsMax) throw tooManyRows(line, rowsMax);
    totals.rows++;
    if (fields > totals.widestFieldCount) totals.widestFieldCount = fields;
    if ((flags & ~recordFlag.quoted) === 0) return;
    const reason = unreadableReason(flags);
    if (reason !== null) {
      totals.unreadable.count++;
      const { firstLines } = totals.unreadable;
      if (firstLines.length < LINES_NAMED_MAX) firstLines.push({ line, reason });
    }
    if (flags & recordFlag.invalidUtf8) {
      totals.invalidUtf8.count++;
      const { firstLines } = totals.invalidUtf8;
      if (firstLines.length < LINES_NAMED_MAX) firstLines.push(line);
    }
  }

  /** Adds the record that ends at `byteTo`, already counted, to the open or a new chunk. */
  #place(byteTo: number): void {
    const { chunkRowsMax, chunkBytesMax } = this.#limits;
    let open = this.#open;
    if (open === null || open.rows >= chunkRowsMax || byteTo - open.byteFrom > chunkBytesMax) {
      if (open !== null) this.#close(open);
      open = {
        byteFrom: this.#byteAfter,
        byteTo,
        firstRow: this.#totals.rows,
        firstLine: this.#lineAfter,
        rows: 0,
        crc32: 0,
      };
      this.#open = open;
    }
    open.rows++;
    open.byteTo = byteTo;
  }

  #close(chunk: Chunk): void {
    chunk.crc32 = this.sums.end(chunk.byteTo);
    this.#chunks.push(chunk);
  }
}

function newlineAt(buffer: Buffer, end: number, terminator: number): Newline {
  if (terminator === 2) return '\r\n';
  return buffer[end] === CR ? '\r' : '\n';
}

/** Returns the most frequent newline, CRLF before LF before CR when equal; null when there is none. */
export function mostFrequent(counts: Record<Newline, number>): Newline | null {
  let best: Newline | null = null;
  for (const newline of ['\r\n', '\n', '\r'] as const) {
    if (counts[newline] > (best === null ? 0 : counts[best])) best = newline;
  }
  return best;
}
