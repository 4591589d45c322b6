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

/** Writes rows into columns of the types `bigint` and `bigint[]`, which are written several times as fast as their text. */
export async function copyBigints(
  tx: Sql,
  target: CopyTarget,
  rows: Iterable<BigintRow>,
): Promise<void> {
  await copyPieces(tx, target, 'binary', inBinary(rows));
}

/** Cells of one row: whole numbers, which a double holds exactly, or arrays of them. */
export type BigintRow = readonly (number | readonly number[])[];

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

function* inBinary(rows: Iterable<BigintRow>): Generator<Buffer> {
  yield BINARY_HEADER;
  let piece = Buffer.allocUnsafe(PIECE_BYTES);
  let end = 0;
  for (const row of rows) {
    const bytes = row.reduce<number>((sum, cell) => sum + LENGTH_BYTES + bytesOf(cell), 2);
    if (end + bytes > piece.length) {
      yield piece.subarray(0, end);
      piece = Buffer.allocUnsafe(Math.max(PIECE_BYTES, bytes));
      end = 0;
    }
    end = piece.writeInt16BE(row.length, end);
    for (const cell of row) {
      end = piece.writeInt32BE(bytesOf(cell), end);
      end = typeof cell === 'number' ? writeInt8(piece, cell, end) : writeArray(piece, cell, end);
    }
  }
  yield piece.subarray(0, end);
  yield BINARY_END;
}

function bytesOf(cell: number | readonly number[]): number {
  if (typeof cell === 'number') return INT8_BYTES;
  if (cell.length === 0) return EMPTY_ARRAY_BYTES;
  return ARRAY_HEADER_BYTES + cell.length * (LENGTH_BYTES + INT8_BYTES);
}

function writeInt8(piece: Buffer, value: number, at: number): number {
  const high = Math.floor(value / LOW_WORD);
  return piece.writeUInt32BE(value - high * LOW_WORD, piece.writeInt32BE(high, at));
}

function writeArray(piece: Buffer, values: readonly number[], at: number): number {
  let end = piece.writeInt32BE(values.length === 0 ? 0 : 1, at);
  end = piece.writeInt32BE(0, end);
  end = piece.writeInt32BE(INT8_OID, end);
  if (values.length === 0) return end;
  end = piece.writeInt32BE(values.length, end);
  end = piece.writeInt32BE(1, end);
  for (const value of values) {
    end = piece.writeInt32BE(INT8_BYTES, end);
    end = writeInt8(piece, value, end);
  }
  return end;
}
