/**
 * The records found in one Buffer, as columns of numbers: a file of a million rows would
 * otherwise be a million objects. Written by the record scanner, read by everything else.
 */

/** Delimiters of files; each is one byte in every encoding that the scanner accepts. */
export const delimiters = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof delimiters)[number];

/** Bits of a record's `flags`. */
export const recordFlag = {
  /** A quoted field opened here is not closed within the record limit or the file. */
  openQuote: 1,
  /** The physical line alone is longer than the record limit. */
  recordTooLong: 2,
  nulByte: 4,
  /** Readable, but to be decoded as Windows-1252. */
  invalidUtf8: 8,
  /** At least one field begins with a quote. */
  quoted: 16,
  /** The record has more cells than a list may have columns. */
  tooManyColumns: 32,
} as const;

export type UnreadableReason = 'open_quote' | 'record_too_long' | 'too_many_columns' | 'nul_byte';

/** Returns why a record with these flags cannot be read as cells; null when it can. */
export function unreadableReason(flags: number): UnreadableReason | null {
  if (flags & recordFlag.openQuote) return 'open_quote';
  if (flags & recordFlag.recordTooLong) return 'record_too_long';
  if (flags & recordFlag.tooManyColumns) return 'too_many_columns';
  return flags & recordFlag.nulByte ? 'nul_byte' : null;
}

/** Returns true when the record is one raw text that was not split into fields: a physical line, or a row that is too wide. */
export function isRawLine(flags: number): boolean {
  const { openQuote, recordTooLong, tooManyColumns } = recordFlag;
  return (flags & (openQuote | recordTooLong | tooManyColumns)) !== 0;
}

/** One record: byte offsets into its Buffer, `end` exclusive and without the terminator. */
export interface RecordRange {
  start: number;
  end: number;
  /** Bytes of the terminator: 0 at the end of the file, 1, or 2 for CRLF. */
  terminator: number;
  /** Delimiters outside quotes + 1; 1 for a raw line. */
  fields: number;
  flags: number;
}

export interface CsvRecord extends RecordRange {
  /** One-based physical line on which the record begins. */
  line: number;
}

export class RecordTable {
  count = 0;
  start: Int32Array;
  end: Int32Array;
  line: Int32Array;
  /** The physical line after the record's terminator. */
  lineAfter: Int32Array;
  fields: Int32Array;
  terminator: Uint8Array;
  flags: Uint8Array;
  /** Empty lines between, before and after the records, which are not records. */
  blankLines = 0;
  /** The physical line at `decidedTo`. */
  nextLine: number;
  /** Every byte before this offset belongs to a record, its terminator or a blank line. */
  decidedTo = 0;

  /** @param firstLine physical line number of the first byte */
  constructor(firstLine: number, capacity: number) {
    this.nextLine = firstLine;
    this.start = new Int32Array(capacity);
    this.end = new Int32Array(capacity);
    this.line = new Int32Array(capacity);
    this.lineAfter = new Int32Array(capacity);
    this.fields = new Int32Array(capacity);
    this.terminator = new Uint8Array(capacity);
    this.flags = new Uint8Array(capacity);
  }

  /** Adds a record that begins on `nextLine` and contains `linesInside` terminators. */
  append(record: RecordRange, linesInside: number): void {
    if (this.count === this.start.length) this.#grow();
    const index = this.count++;
    this.start[index] = record.start;
    this.end[index] = record.end;
    this.line[index] = this.nextLine;
    this.fields[index] = record.fields;
    this.terminator[index] = record.terminator;
    this.flags[index] = record.flags;
    this.nextLine += linesInside + (record.terminator === 0 ? 0 : 1);
    this.lineAfter[index] = this.nextLine;
  }

  /** Returns one record as an object, for paths that are not hot. Throws `RangeError` outside 0..count. */
  at(index: number): CsvRecord {
    if (!(index >= 0 && index < this.count)) throw new RangeError(`no record ${index}`);
    return {
      start: this.start[index] as number,
      end: this.end[index] as number,
      terminator: this.terminator[index] as number,
      fields: this.fields[index] as number,
      flags: this.flags[index] as number,
      line: this.line[index] as number,
    };
  }

  #grow(): void {
    const capacity = Math.max(64, this.start.length * 2);
    this.start = copyInto(new Int32Array(capacity), this.start);
    this.end = copyInto(new Int32Array(capacity), this.end);
    this.line = copyInto(new Int32Array(capacity), this.line);
    this.lineAfter = copyInto(new Int32Array(capacity), this.lineAfter);
    this.fields = copyInto(new Int32Array(capacity), this.fields);
    this.terminator = copyInto(new Uint8Array(capacity), this.terminator);
    this.flags = copyInto(new Uint8Array(capacity), this.flags);
  }
}

function copyInto<T extends Int32Array | Uint8Array>(wider: T, column: T): T {
  wider.set(column);
  return wider;
}
