/**
 * The copy's table of identifiers: a hash table with open addressing of entries of 8 bytes, the fingerprint of a value
 * and the place of the block of a person who holds it, in units of `BLOCK_ALIGN` bytes from 1 on. 0 is a free entry.
 * In numbers of 32 bits, little endian like every machine that Node runs on.
 */
import { crc32 } from 'node:zlib';
import { CANDIDATES_MAX } from '../enrich/candidates-max.ts';
import type { ValueHash } from './hash-value.ts';

export const ENTRY_BYTES = 8;
const LOAD_MAX = 0.7;
const PLACES = 2 ** 32;
/** A table up to this size is held in memory: a look-up then costs half as much. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;
/** Entries of a page, which is one read of a table that is not held: nearly all look-ups need one. */
const PAGE = 128;
const PAGE_BYTES = PAGE * ENTRY_BYTES;

/** Returns the entries of a table for so many identifiers; one at least stays free. */
export function slotsFor(identifiers: number): number {
  return Math.ceil(identifiers / LOAD_MAX) + 1;
}

function slotOf({ place }: ValueHash, slots: number): number {
  return Math.floor((place / PLACES) * slots);
}

/**
 * Adds an entry to the table. Beyond `CANDIDATES_MAX` entries of a fingerprint it adds none: Postgres answers for such
 * a value, and a switchboard of thousands does not fill a run of the table.
 */
export function addEntry(table: Uint32Array, hash: ValueHash, block: number): void {
  const slots = table.length / 2;
  let slot = slotOf(hash, slots);
  let alike = 0;
  while (table[slot * 2 + 1] !== 0) {
    if (table[slot * 2] === hash.fingerprint && ++alike === CANDIDATES_MAX) return;
    slot = slot + 1 === slots ? 0 : slot + 1;
  }
  table[slot * 2] = hash.fingerprint;
  table[slot * 2 + 1] = block;
}

/** Finds blocks in a table. Uses a page of its own: one call at a time. */
export interface IdentifierTable {
  /**
   * Puts the blocks that may hold a value with this hash into `blocks`. Returns how many there are; with
   * `CANDIDATES_MAX` there may be more.
   */
  find(hash: ValueHash, blocks: Uint32Array): number;
}

/** A table in memory. */
export function heldTable(table: Uint32Array): IdentifierTable {
  return tableOf(table.length / 2, () => table, table.length / 2);
}

/** Reads bytes of the file into the whole buffer. Throws where there are not as many: without them no value would be found. */
export type ReadFile = (to: Buffer, position: number) => void;

/** The CRC-32 of each page of a table, collected while its bytes are read in their order. */
export class PageSums {
  readonly #sums: Uint32Array;
  #read = 0;

  constructor(slots: number) {
    this.#sums = new Uint32Array(Math.ceil(slots / PAGE));
  }

  add(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) {
      const page = Math.floor(this.#read / PAGE_BYTES);
      const to = Math.min(bytes.length, from + (page + 1) * PAGE_BYTES - this.#read);
      this.#sums[page] = crc32(bytes.subarray(from, to), this.#sums[page]);
      this.#read += to - from;
      from = to;
    }
  }

  isWhole(page: number, bytes: Uint8Array): boolean {
    return crc32(bytes) === this.#sums[page];
  }
}

/**
 * Reads a table in a file. `sums` are the checksums from when it was opened: an entry that changes later would hide a record,
 * or give a value of two people to one of them. `damaged` makes the error for such an entry.
 */
export function fileTable(
  read: ReadFile,
  slots: number,
  sums: PageSums,
  damaged: () => Error,
): IdentifierTable {
  const bytes = Buffer.alloc(PAGE_BYTES);
  const entries = new Uint32Array(bytes.buffer, bytes.byteOffset, PAGE * 2);
  const readFrom = (from: number) => {
    const held = bytes.subarray(0, Math.min(PAGE_BYTES, (slots - from) * ENTRY_BYTES));
    read(held, from * ENTRY_BYTES);
    if (!sums.isWhole(from / PAGE, held)) throw damaged();
    return entries;
  };
  return tableOf(slots, readFrom, PAGE);
}

/** Returns true for a table that is better held in memory than read entry by entry. */
export function isHeld(slots: number): boolean {
  return slots * ENTRY_BYTES <= HELD_BYTES_MAX;
}

/** `read` returns `length` entries from a slot on that is a multiple of it; a whole table returns itself, from slot 0. */
function tableOf(
  slots: number,
  read: (from: number) => Uint32Array,
  length: number,
): IdentifierTable {
  const pageOf = (slot: number) => slot - (slot % length);
  return {
    find(hash, blocks) {
      let slot = slotOf(hash, slots);
      let base = pageOf(slot);
      let entries = read(base);
      let found = 0;
      for (let step = 0; step < slots; step++) {
        if (slot < base || slot >= base + length) {
          base = pageOf(slot);
          entries = read(base);
        }
        const at = (slot - base) * 2;
        const block = entries[at + 1] ?? 0;
        if (block === 0) return found;
        if (entries[at] === hash.fingerprint) {
          blocks[found++] = block;
          if (found === CANDIDATES_MAX) return found;
        }
        slot = slot + 1 === slots ? 0 : slot + 1;
      }
      return found;
    },
  };
}
