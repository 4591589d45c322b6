/** `copy ... from stdin`. Names of tables and columns are those of code, never of input. */
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { Sql } from './client.ts';

export interface CopyTarget {
  table: string;
  columns: readonly string[];
}

/** Writes lines of COPY text into columns of a table. */
export async function copyInto(
  tx: Sql,
  target: CopyTarget,
  lines: Iterable<string>,
): Promise<void> {
  await copyPieces(tx, target, 'text', inPieces(lines));
}

/** Writes columns of the types `bigint` and `bigint[]`, of one length, which takes a fraction of the time of their text. */
export async function copyBigints(
  tx: Sql,
  target: CopyTarget,
  columns: readonly BigintColumn[],
): Promise<void> {
  await copyPieces(tx, target, 'binary', inBinary(columns));
}

/** Cells of one column: whole numbers, which a double holds exactly, or arrays of them. */
export type BigintColumn = Float64Array | readonly (readonly number[])[];

async function copyPieces(
  tx: Sql,
  { table, columns }: CopyTarget,
  format: 'text' | 'binary',
  pieces: Iterable<Buffer>,
): Promise<void> {
  const text = `copy ${table} (${columns.join(', ')}) from stdin (format ${format})`;
  const writable = await tx.unsafe(text).writable();
  await promisify(pipeline)(Readable.from(pieces, { objectMode: true }), writable);
}

const PIECE_CHARACTERS = 256 * 1024;

/** Joins lines, so that each piece costs one message. */
function* inPieces(lines: Iterable<string>): Generator<Buffer> {
  let piece = '';
  for (const line of lines) {
    piece += line;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield Buffer.from(piece, 'utf8');
    piece = '';
  }
  if (piece !== '') yield Buffer.from(piece, 'utf8');
}

const PIECE_BYTES = 256 * 1024;
/** The signature, no flags, no further header. */
const BINARY_HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const BINARY_END = Buffer.from([0xff, 0xff]);
const INT8_OID = 20;
const INT8_BYTES = 8;
/** Length before each value. */
const LENGTH_BYTES = 4;
/** Of an array: dimensions, flags, type of the elements, their number, index of the first. */
const ARRAY_HEADER_BYTES = 20;
const EMPTY_ARRAY_BYTES = 12;
const LOW_WORD = 0x1_0000_0000;

/** No object is made for a row: a batch has hundreds of thousands. */
function* inBinary(columns: readonly BigintColumn[]): Generator<Buffer> {
  yield BINARY_HEADER;
  let piece = new BinaryPiece(PIECE_BYTES);
  const rows = columns[0]?.length ?? 0;
  for (let row = 0; row < rows; row++) {
    let bytes = 2;
    for (const column of columns) bytes += bytesOfCell(column, row);
    if (!piece.hasRoom(bytes)) {
      yield piece.written();
      piece = new BinaryPiece(Math.max(PIECE_BYTES, bytes));
    }
    piece.addInt2(columns.length);
    for (const column of columns) {
      if (column instanceof Float64Array) piece.addCell(column[row] as number);
      else piece.addArray(column[row] as readonly number[]);
    }
  }
  yield piece.written();
  yield BINARY_END;
}

function bytesOfCell(column: BigintColumn, row: number): number {
  if (column instanceof Float64Array) return LENGTH_BYTES + INT8_BYTES;
  return LENGTH_BYTES + bytesOfArray(column[row] as readonly number[]);
}

function bytesOfArray({ length }: readonly number[]): number {
  return length === 0
    ? EMPTY_ARRAY_BYTES
    : ARRAY_HEADER_BYTES + length * (LENGTH_BYTES + INT8_BYTES);
}

/** Bytes of rows, big-endian, written through a view: faster than by a buffer's methods. */
class BinaryPiece {
  readonly #buffer: Buffer;
  readonly #view: DataView;
  #end = 0;

  constructor(bytes: number) {
    this.#buffer = Buffer.allocUnsafeSlow(bytes);
    this.#view = new DataView(this.#buffer.buffer);
  }

  hasRoom(bytes: number): boolean {
    return this.#end + bytes <= this.#buffer.length;
  }

  written(): Buffer {
    return this.#buffer.subarray(0, this.#end);
  }

  addInt2(value: number): void {
    this.#view.setInt16(this.#end, value);
    this.#end += 2;
  }

  #addInt4(value: number): void {
    this.#view.setInt32(this.#end, value);
    this.#end += 4;
  }

  /** A number with its length. */
  addCell(value: number): void {
    const high = Math.floor(value / LOW_WORD);
    this.#view.setInt32(this.#end, INT8_BYTES);
    this.#view.setInt32(this.#end + LENGTH_BYTES, high);
    this.#view.setUint32(this.#end + LENGTH_BYTES + 4, value - high * LOW_WORD);
    this.#end += LENGTH_BYTES + INT8_BYTES;
  }

  /** An array with its length. */
  addArray(values: readonly number[]): void {
    this.#addInt4(bytesOfArray(values));
    this.#addInt4(values.length === 0 ? 0 : 1);
    this.#addInt4(0);
    this.#addInt4(INT8_OID);
    if (values.length === 0) return;
    this.#addInt4(values.length);
    this.#addInt4(1);
    for (let at = 0; at < values.length; at++) this.addCell(values[at] as number);
  }
}
