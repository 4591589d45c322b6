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
export const RECORD_BYTES_MAX = 131_072;

export const LF = 10;
export const CR = 13;
export const QUOTE = 34;

/** States of the look-ahead between two bytes; the last two are final. */
const AT_FIELD_START = 0;
const IN_TEXT = 1;
const IN_QUOTES = 2;
const AFTER_QUOTE_IN_QUOTES = 3;
const ENDED = 4;
const BROKEN = 5;

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
  #aheadState = IN_QUOTES;

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
    const specialMax = Math.max(delimiter, CR);
    const stop = Math.min(buffer.length, start + this.#bytesMax + 1);
    let at = start;
    let fields = 1;
    let lines = 0;
    let flags = 0;
    let firstLineEnd = -1;
    let isInQuotes = false;
    let isEnded = false;
    field: while (at < stop) {
      if (buffer[at] === QUOTE) {
        flags = recordFlag.quoted;
        isInQuotes = true;
        at++;
        while (at < stop) {
          const byte = buffer[at] as number;
          if (byte === QUOTE) {
            if (at + 1 < stop && buffer[at + 1] === QUOTE) at++;
            else {
              isInQuotes = false;
              at++;
              break;
            }
          } else if (byte === LF || byte === CR) {
            if (!isSure) {
              firstLineEnd = at;
              break field;
            }
            lines++;
            if (byte === CR && at + 1 < stop && buffer[at + 1] === LF) at++;
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
          if (byte === LF || byte === CR) {
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
      this.#aheadState = IN_QUOTES;
    }
    this.#lookAhead(start + this.#bytesMax + 1);
    const end = this.#aheadTo;
    const state = this.#aheadState;
    const isAtEnd = end === this.#buffer.length && state !== ENDED && state !== BROKEN;
    const isShort = end - start <= this.#bytesMax;
    if (isShort && isAtEnd && !this.#isLast) return false;
    const isClosed = state === ENDED || (isAtEnd && state !== IN_QUOTES);
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
    while (at < stop && state < ENDED) {
      const byte = buffer[at] as number;
      if (state === IN_QUOTES) {
        if (byte === QUOTE) state = AFTER_QUOTE_IN_QUOTES;
      } else if (byte === LF || byte === CR) state = ENDED;
      else if (byte === delimiter) state = AT_FIELD_START;
      else if (byte === QUOTE) state = state === IN_TEXT ? BROKEN : IN_QUOTES;
      else state = state === AFTER_QUOTE_IN_QUOTES ? BROKEN : IN_TEXT;
      if (state < ENDED) at++;
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
    if (this.#buffer[this.end] !== CR) return true;
    if (this.end + 1 === length) return this.#isLast;
    if (this.#buffer[this.end + 1] === LF) this.terminator = 2;
    return true;
  }

  #findLineEnd(from: number): number {
    const buffer = this.#buffer;
    let at = from;
    while (at < buffer.length && buffer[at] !== LF && buffer[at] !== CR) at++;
    return at;
  }
}
