/**
 * A copy's index of records: blocks are in the order of their ids, and each entry names a stretch of them. In numbers of
 * 64 bits, little endian: the first id, where the stretch begins, and the CRC-32 of its bytes.
 */
import { crc32 } from 'node:zlib';
import type { ReadFile } from './identifier-table.ts';
import { readUntilWhole } from './read-until-whole.ts';
import { aligned, claimedBytes, idOf } from './record-block.ts';

const ENTRY = { id: 0, at: 1, crc32: 2, length: 3 } as const;
/** A stretch has at least so many bytes, unless it is the last: some thirty records, one read. */
const STRETCH_BYTES = 16 * 1024;

export const INDEX_ENTRY_BYTES = ENTRY.length * Float64Array.BYTES_PER_ELEMENT;

/** Collects the entries while blocks are written. */
export class RecordIndexWriter {
  readonly #entries: number[] = [];

  /** Adds the block of a record, all bytes up to the next one, which begins at `at` in the file. */
  add(id: number, at: number, block: Uint8Array): void {
    const entries = this.#entries;
    const began = entries[entries.length - ENTRY.length + ENTRY.at];
    if (began === undefined || at - began >= STRETCH_BYTES) entries.push(id, at, 0);
    const last = entries.length - ENTRY.length + ENTRY.crc32;
    entries[last] = crc32(block, entries[last]);
  }

  /** Returns the entries as bytes of a file. */
  encode(): Buffer {
    return Buffer.from(Float64Array.from(this.#entries).buffer);
  }
}

/**
 * Called with the index of an id, and where the record's block begins in the buffer, which is used again afterwards, and in
 * the file.
 */
export type VisitRecord = (index: number, buffer: Buffer, at: number, position: number) => void;

/** Reads records by their ids. */
export interface RecordIndex {
  /** Calls `visit` for each of these records that the copy holds. The ids ascend. */
  forEach(ids: Float64Array, visit: VisitRecord): void;
}

/**
 * Opens the index of a file of blocks of `fileBytes` bytes. `damaged` makes the error for bytes that are not as they were
 * written.
 */
export function openRecordIndex(
  bytes: Buffer,
  fileBytes: number,
  read: ReadFile,
  damaged: () => Error,
): RecordIndex {
  const entries = new Float64Array(new Uint8Array(bytes).buffer);
  const stretches = entries.length / ENTRY.length;
  const numberOf = (stretch: number, column: number) =>
    entries[stretch * ENTRY.length + column] ?? Number.NaN;
  let buffer = Buffer.alloc(2 * STRETCH_BYTES);

  /** Returns the length of a stretch, which is in the buffer then. */
  const load = (stretch: number): number => {
    const from = numberOf(stretch, ENTRY.at);
    const length = (stretch + 1 < stretches ? numberOf(stretch + 1, ENTRY.at) : fileBytes) - from;
    if (length > buffer.length) buffer = Buffer.alloc(length);
    const held = buffer.subarray(0, length);
    const isRead = readUntilWhole(() => {
      read(held, from);
      return crc32(held) === numberOf(stretch, ENTRY.crc32);
    });
    if (!isRead) throw damaged();
    return length;
  };

  /** Returns the last stretch, from `first` on, that begins with this record or an earlier one; -1 for none. */
  const find = (id: number, first: number): number => {
    let low = Math.max(first, 0);
    let high = stretches;
    // Nearly always it is the same one, or the next.
    if (low + 1 < high && numberOf(low + 1, ENTRY.id) > id) high = low + 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numberOf(middle, ENTRY.id) <= id) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };

  return {
    forEach(ids, visit) {
      let stretch = -1;
      let end = 0;
      let at = 0;
      for (const [index, id] of ids.entries()) {
        const found = find(id, stretch);
        if (found < 0) continue;
        if (found !== stretch) {
          stretch = found;
          end = load(stretch);
          at = 0;
        }
        while (at < end && idOf(buffer, at) < id) at += aligned(claimedBytes(buffer, at));
        if (at < end && idOf(buffer, at) === id) {
          visit(index, buffer, at, numberOf(stretch, ENTRY.at) + at);
        }
      }
    },
  };
}
