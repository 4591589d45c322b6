/**
 * Reads one CSV record at a time from bytes; the grammar of the whole project is in this file.
 *
 * - A record ends at CRLF, LF or a lone CR outside quotes, in any mixture.
 * - A quote opens a quoted field only as the first byte of a field; `""` inside it is a quote. Any other quote is
 *   text, and so is text after a closing quote: neither moves a boundary.
 * - That leniency ends at the first newline inside quotes. A stray quote would otherwise join its line with all
 *   lines up to the next quoted field and swallow their rows; there the next quote has text on its wrong side,
 *   which proves that the first one was stray.
 * - A record that is broken in this way, or not closed before the end of the data, or longer than the limit,
 *   yields only its first physical line, as `open_quote` or `record_too_long`; reading continues at the next line.
 *
 * Invariant: a record depends only on its own bytes and at most `recordBytesMax + 2` bytes after its start, so any
 * piece of a file that begins at a record and ends at a record gives the same records as the whole file. The
 * reason of an unreadable line therefore comes from that line alone, never from bytes after it.
 */

import { type RecordRange, recordFlag } from './record-table.ts';

/** Maximum bytes of a record without its terminator: four Excel cells of the largest size. */
export const recordBytesMax = 131_072;

export const lf = 10;
export const cr = 13;
export const quote = 34;

/** States of the look-ahead between two bytes; the last two are final. */
const atFieldStart = 0;
const inText = 1;
const inQuotes = 2;
const afterQuoteInQuotes = 3;
const ended = 4;
const broken = 5;

export interface ReaderOptions {
  /** The delimiter as a byte. */
  delimiter: number;
  recordBytesMax: number;
  /** False while more bytes may follow; then a record that they could change is undecided. */
  isLast: boolean;
}

export class RecordReader implements RecordRange {
  start = 0;
  end = 0;
  terminator = 0;
  fields = 0;
  flags = 0;
  /** Terminators inside the record's quoted fields. */
  linesInside = 0;

  readonly #buffer: Buffer;
  readonly #delimiter: number;
  readonly #bytesMax: number;
  readonly #isLast: boolean;
  /** The newline inside quotes at which the last walk stopped, or -1. */
  #firstLineEnd = -1;
  #stoppedInQuotes = false;
  // The look-ahead: a text that is inside quotes at some newline before `#aheadTo` is in
  // `#aheadState` at `#aheadTo`. It only moves forward.
  #aheadTo = -1;
  #aheadState = inQuotes;

  constructor(buffer: Buffer, options: ReaderOptions) {
    this.#buffer = buffer;
    this.#delimiter = options.delimiter;
    this.#bytesMax = options.recordBytesMax;
    this.#isLast = options.isLast;
  }

  /**
   * Reads the record that begins at `start` (not at a newline) into the public fields. Returns false when bytes
   * that have not arrived yet could change it.
   */
  read(start: number): boolean {
    this.start = start;
    this.flags = 0;
    if (this.#walk(start, false)) return this.#terminate();
    if (this.#firstLineEnd >= 0) return this.#readOpenQuote(start, this.#firstLineEnd);
    return this.#readUnterminatedLine(start);
  }

  /**
   * The hot loop. Returns true when it met the terminator that ends the record; false at the
   * end of the data, at the limit and, unless `isSure`, at the first newline inside quotes.
   */
  #walk(start: number, isSure: boolean): boolean {
    const buffer = this.#buffer;
    const delimiter = this.#delimiter;
    const specialMax = Math.max(delimiter, cr);
    const stop = Math.min(buffer.length, start + this.#bytesMax + 1);
    let at = start;
    let fields = 1;
    let lines = 0;
    let flags = 0;
    let firstLineEnd = -1;
    let isInQuotes = false;
    let isEnded = false;
    field: while (at < stop) {
      if (buffer[at] === quote) {
        flags = recordFlag.quoted;
        isInQuotes = true;
        at++;
        while (at < stop) {
          const byte = buffer[at] as number;
          if (byte === quote) {
            if (at + 1 < stop && buffer[at + 1] === quote) at++;
            else {
              isInQuotes = false;
              at++;
              break;
            }
          } else if (byte === lf || byte === cr) {
            if (!isSure) {
              firstLineEnd = at;
              break field;
            }
            lines++;
            if (byte === cr && at + 1 < stop && buffer[at + 1] === lf) at++;
          }
          at++;
        }
      }
      while (at < stop) {
        const byte = buffer[at] as number;
        if (byte <= specialMax) {
          if (byte === delimiter) {
            fields++;
            at++;
            continue field;
          }
          if (byte === lf || byte === cr) {
            isEnded = true;
            break field;
          }
        }
        at++;
      }
    }
    this.end = at;
    this.fields = fields;
    this.flags = flags;
    this.linesInside = lines;
    this.#firstLineEnd = firstLineEnd;
    this.#stoppedInQuotes = isInQuotes;
    return isEnded;
  }

  /** No newline was met: the last line of the data, or a line longer than the limit. */
  #readUnterminatedLine(start: number): boolean {
    const { length } = this.#buffer;
    if (this.end - start > this.#bytesMax) {
      const lineEnd = this.#findLineEnd(this.end);
      if (lineEnd === length && !this.#isLast) return false;
      return this.#takeLine(lineEnd, recordFlag.recordTooLong);
    }
    if (!this.#isLast) return false;
    if (this.#stoppedInQuotes) return this.#takeLine(length, recordFlag.openQuote);
    this.terminator = 0;
    return true;
  }

  /**
   * The record's first line ends inside quotes. Scanning ahead again for every such line would be quadratic (each
   * line of `a","b` stays open forever). But two texts that are inside quotes at the same newline are the same
   * from there on, so one look-ahead that only moves forward decides all of them.
   */
  #readOpenQuote(start: number, lineEnd: number): boolean {
    if (lineEnd >= this.#aheadTo) {
      this.#aheadTo = lineEnd;
      this.#aheadState = inQuotes;
    }
    this.#lookAhead(start + this.#bytesMax + 1);
    const end = this.#aheadTo;
    const state = this.#aheadState;
    const isAtEnd = end === this.#buffer.length && state !== ended && state !== broken;
    const isShort = end - start <= this.#bytesMax;
    if (isShort && isAtEnd && !this.#isLast) return false;
    const isClosed = state === ended || (isAtEnd && state !== inQuotes);
    if (!isShort || !isClosed) return this.#takeLine(lineEnd, recordFlag.openQuote);
    this.#walk(start, true);
    return this.#terminate();
  }

  /** The grammar after a newline inside quotes, from the position of the look-ahead to `limit`. */
  #lookAhead(limit: number): void {
    const buffer = this.#buffer;
    const delimiter = this.#delimiter;
    const stop = Math.min(buffer.length, limit);
    let state = this.#aheadState;
    let at = this.#aheadTo;
    while (at < stop && state < ended) {
      const byte = buffer[at] as number;
      if (state === inQuotes) {
        if (byte === quote) state = afterQuoteInQuotes;
      } else if (byte === lf || byte === cr) state = ended;
      else if (byte === delimiter) state = atFieldStart;
      else if (byte === quote) state = state === inText ? broken : inQuotes;
      else state = state === afterQuoteInQuotes ? broken : inText;
      if (state < ended) at++;
    }
    this.#aheadState = state;
    this.#aheadTo = at;
  }

  #takeLine(lineEnd: number, flag: number): boolean {
    this.end = lineEnd;
    this.fields = 1;
    this.flags = flag;
    this.linesInside = 0;
    return this.#terminate();
  }

  /** Sets `terminator` from the bytes at `end`; false while a CR may still become a CRLF. */
  #terminate(): boolean {
    const { length } = this.#buffer;
    if (this.end === length) {
      this.terminator = 0;
      return true;
    }
    this.terminator = 1;
    if (this.#buffer[this.end] !== cr) return true;
    if (this.end + 1 === length) return this.#isLast;
    if (this.#buffer[this.end + 1] === lf) this.terminator = 2;
    return true;
  }

  #findLineEnd(from: number): number {
    const buffer = this.#buffer;
    let at = from;
    while (at < buffer.length && buffer[at] !== lf && buffer[at] !== cr) at++;
    return at;
  }
}
