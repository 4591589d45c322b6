/**
 * Finds the records of a canonical CSV file (an encoding that keeps ASCII bytes, no BOM, unzipped), either from a
 * stream of Buffers (the split) or in one Buffer of whole records (a worker's piece). Both use one core and give
 * the same records; the grammar and the reasons are in `record-reader.ts`.
 */

import { isUtf8 } from 'node:buffer';
import { CR, LF, RECORD_BYTES_MAX, RecordReader } from './record-reader.ts';
import { type Delimiter, isRawLine, RecordTable, recordFlag } from './record-table.ts';

export interface ScanOptions {
  delimiter: Delimiter;
  /** Physical line number of the first byte; 1 by default. */
  firstLine?: number;
  /** The limit of one record, `RECORD_BYTES_MAX` by default; infinite for a text that the service has written. */
  recordBytesMax?: number;
  /** A record with more fields is one text that cannot be read. Infinite by default; of a list it is `COLUMNS_MAX`. */
  columnsMax?: number;
  /** For tests: a stream is scanned in steps of at least this many bytes. */
  stepBytesMin?: number;
}

/** Records found in one step of a stream. */
export interface RecordBatch {
  /** Contains the bytes that the table's offsets refer to. */
  buffer: Buffer;
  /** Offset of `buffer[0]` in the stream, in bytes. */
  firstByte: number;
  records: RecordTable;
}

/** Minimum size of a step of a stream, so that small feeds do not cost more. */
const STEP_BYTES_MIN = 65_536;

/** Returns all records of a Buffer that begins at a record (or blank line) and ends at a record. */
export function scanRecords(piece: Buffer, options: ScanOptions): RecordTable {
  return scanStep(piece, options, { firstLine: options.firstLine ?? 1, isLast: true });
}

/** Returns the records at the beginning of a file that no byte after `prefix` could change. */
export function scanPrefix(prefix: Buffer, options: ScanOptions): RecordTable {
  return scanStep(prefix, options, { firstLine: options.firstLine ?? 1, isLast: false });
}

/** Streaming form: feed Buffers of any size with `push`, then call `finish` once. */
export class RecordScanner {
  readonly #options: ScanOptions;
  #carry: Buffer = Buffer.alloc(0);
  #carryByte = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #nextLine: number;

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#nextLine = options.firstLine ?? 1;
  }

  /**
   * Bytes held because no record boundary after them is certain yet. More than the record limit here means one
   * physical line without an end: the caller decides how long it may grow.
   */
  get undecidedBytes(): number {
    return this.#carry.length;
  }

  /** Number of the line with which the undecided bytes begin. */
  get nextLine(): number {
    return this.#nextLine;
  }

  /**
   * Takes the next bytes (kept, so the caller must not overwrite them). Returns the records that are certain by
   * now, or null while it waits for enough bytes for a step.
   */
  push(chunk: Buffer): RecordBatch | null {
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    // A long undecided line is rescanned only after it has grown by half: linear time.
    const stepBytes = this.#options.stepBytesMin ?? STEP_BYTES_MIN;
    if (this.#waitingBytes < Math.max(stepBytes, this.#carry.length / 2)) return null;
    return this.#step(false);
  }

  /** Returns the remaining records, after the last bytes. */
  finish(): RecordBatch {
    return this.#step(true);
  }

  #step(isLast: boolean): RecordBatch {
    const buffer = Buffer.concat([this.#carry, ...this.#waiting]);
    const firstByte = this.#carryByte;
    const records = scanStep(buffer, this.#options, { firstLine: this.#nextLine, isLast });
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#carry = buffer.subarray(records.decidedTo);
    this.#carryByte += records.decidedTo;
    this.#nextLine = records.nextLine;
    return { buffer, firstByte, records };
  }
}

function scanStep(
  buffer: Buffer,
  options: ScanOptions,
  step: { firstLine: number; isLast: boolean },
): RecordTable {
  const records = new RecordTable(step.firstLine, 64 + (buffer.length >>> 6));
  const reader = new RecordReader(buffer, {
    delimiter: options.delimiter.charCodeAt(0),
    recordBytesMax: options.recordBytesMax ?? RECORD_BYTES_MAX,
    isLast: step.isLast,
  });
  const columnsMax = options.columnsMax ?? Number.POSITIVE_INFINITY;
  let at = 0;
  while (at < buffer.length) {
    const byte = buffer[at];
    if (byte === LF || byte === CR) {
      if (byte === CR && at + 1 === buffer.length && !step.isLast) break;
      at += byte === CR && buffer[at + 1] === LF ? 2 : 1;
      records.blankLines++;
      records.nextLine++;
      continue;
    }
    if (!reader.read(at)) break;
    if (reader.fields > columnsMax) {
      reader.fields = 1;
      reader.flags = recordFlag.tooManyColumns;
    }
    records.append(reader, reader.linesInside);
    at = reader.end + reader.terminator;
  }
  records.decidedTo = at;
  flagNulBytes(buffer, records);
  flagInvalidUtf8(buffer, records);
  return records;
}

/** A native search first: almost no file has a NUL, and then this costs almost nothing. */
function flagNulBytes(buffer: Buffer, records: RecordTable): void {
  let nul = buffer.indexOf(0);
  for (let index = 0; index < records.count && nul >= 0; index++) {
    const end = records.end[index] as number;
    if (nul >= end) continue;
    const flags = records.flags[index] as number;
    if (!isRawLine(flags)) records.flags[index] = flags | recordFlag.nulByte;
    nul = buffer.indexOf(0, end);
  }
}

/** Terminators are ASCII, so the whole is valid UTF-8 exactly when each record is. */
function flagInvalidUtf8(buffer: Buffer, records: RecordTable): void {
  if (isUtf8(buffer.subarray(0, records.decidedTo))) return;
  for (let index = 0; index < records.count; index++) {
    const record = buffer.subarray(records.start[index], records.end[index]);
    if (!isUtf8(record))
      records.flags[index] = (records.flags[index] as number) | recordFlag.invalidUtf8;
  }
}
