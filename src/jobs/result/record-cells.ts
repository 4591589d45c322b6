/**
 * Copies cells of a stored record (text separated by unit separators) into CSV. Works on bytes, because a batch
 * copies every field of every match, and quotes only the cells that need it.
 */
import type { RecordBytes } from '../../core/enrich/match-data.ts';
import { CELL_SEPARATOR_BYTE } from '../../core/graph/record.ts';
import type { ByteWriter } from '../../formats/csv/byte-writer.ts';

const QUOTE = 0x22;
const CR = 0x0d;
const LF = 0x0a;
const WORD_BYTES = 4;
/** Four separators, and four times the seven low bits of a byte. */
const SEPARATORS = CELL_SEPARATOR_BYTE * 0x01010101;
const LOW_BITS = 0x7f7f7f7f;

/** Positions of the cells to copy, in ascending order. */
export type CellSelection = readonly number[];

/**
 * Appends the selected cells, each after a delimiter. Counts non-empty ones in `filled`, from position
 * `firstColumn` on.
 */
export function appendRecordCells(
  writer: ByteWriter,
  record: RecordBytes,
  selection: CellSelection,
  delimiter: number,
  filled: number[],
  firstColumn: number,
): void {
  const { bytes, to } = record;
  // Worst case: every byte is a quote that doubles, and each cell gets a delimiter and two quotes.
  writer.reserve((to - record.from) * 2 + selection.length * 3);
  const out = writer.bytes;
  const special = specialBytes(delimiter);
  let length = writer.length;
  let at = record.from;
  let cell = 0;
  for (let index = 0; index < selection.length; index++) {
    const wanted = selection[index] as number;
    if (wanted > cell) at = skipCells(bytes, at, to, wanted - cell);
    cell = wanted + 1;
    out[length++] = delimiter;
    const cellFrom = at;
    const lengthBefore = length;
    let byte = CELL_SEPARATOR_BYTE;
    for (; at < to; at++) {
      byte = bytes[at] as number;
      if (special[byte] === 1) break;
      out[length++] = byte;
    }
    if (at < to && byte !== CELL_SEPARATOR_BYTE) {
      // Again from its first byte on, each quote twice (RFC 4180 section 2).
      length = lengthBefore;
      out[length++] = QUOTE;
      for (at = cellFrom; at < to; at++) {
        byte = bytes[at] as number;
        if (byte === CELL_SEPARATOR_BYTE) break;
        out[length] = byte;
        // Without a branch, which JSON would mispredict at each quote: after any other byte this one is overwritten.
        out[length + 1] = QUOTE;
        length += doubled[byte] as number;
      }
      out[length++] = QUOTE;
    }
    if (at > cellFrom) {
      const column = firstColumn + index;
      filled[column] = (filled[column] as number) + 1;
    }
    at++;
  }
  writer.length = length;
}

/** Bytes that each byte takes inside quotes. */
const doubled = new Uint8Array(256).fill(1);
doubled[QUOTE] = 2;

const specialOf = new Map<number, Uint8Array>();

/** Returns a table with 1 for the bytes that end a cell or have it quoted: one look-up instead of five comparisons. */
function specialBytes(delimiter: number): Uint8Array {
  let special = specialOf.get(delimiter);
  if (special === undefined) {
    special = new Uint8Array(256);
    for (const byte of [CELL_SEPARATOR_BYTE, delimiter, QUOTE, CR, LF]) special[byte] = 1;
    specialOf.set(delimiter, special);
  }
  return special;
}

/**
 * Returns the begin of the cell `count` cells after the one at `from`; a place after `to` when the record has fewer.
 * Counts separators in words of four bytes, which takes 0.4 of the time of a loop over bytes.
 */
function skipCells(bytes: Buffer, from: number, to: number, count: number): number {
  const words = wordsOf(bytes.buffer as ArrayBuffer);
  const { byteOffset } = bytes;
  const first = byteOffset + from;
  // The last bytes of the memory may not be a whole word.
  const end = Math.min(words.length, Math.ceil((byteOffset + to) / WORD_BYTES));
  let left = count;
  let word = first >> 2;
  for (; word < end; word++) {
    let differs = (words[word] as number) ^ SEPARATORS;
    // Bytes of the first word before the cell are no separators.
    if (word * WORD_BYTES < first) differs |= (1 << ((first % WORD_BYTES) * 8)) - 1;
    // The high bit of each byte that is a separator.
    let found = ~(((differs & LOW_BITS) + LOW_BITS) | differs | LOW_BITS);
    const number = Math.imul(found >>> 7, 0x01010101) >>> 24;
    if (number >= left) {
      for (; left > 1; left--) found &= found - 1;
      const byte = (31 - Math.clz32(found & -found)) >> 3;
      return word * WORD_BYTES + byte + 1 - byteOffset;
    }
    left -= number;
  }
  let at = Math.max(from, word * WORD_BYTES - byteOffset);
  for (; left > 0 && at < to; at++) if (bytes[at] === CELL_SEPARATOR_BYTE) left--;
  return left > 0 ? to + 1 : at;
}

let memory = new ArrayBuffer(0);
let memoryWords = new Int32Array(memory);

/** The memory as words, little endian; records that follow one another share it. */
function wordsOf(buffer: ArrayBuffer): Int32Array {
  if (buffer !== memory) {
    memory = buffer;
    memoryWords = new Int32Array(buffer, 0, Math.floor(buffer.byteLength / WORD_BYTES));
  }
  return memoryWords;
}
