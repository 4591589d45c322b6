/**
 * The form of one record in a copy's file of blocks: a head of fixed length, the identifiers, the text.
 * Numbers are little endian. A block begins at a multiple of `BLOCK_ALIGN`, so that 32 bits hold its place.
 *
 *     0  u32  CRC-32 of the bytes from 4 to the end
 *     4  u32  bytes of the block, head included
 *     8  f64  id
 *    16  f64  where the further text begins in its file
 *    24  u32  bytes of the further text
 *    28  u32  CRC-32 of the further text
 *    32  u32  bytes of the identifiers
 *    36  f64  id of the employer; 0 for none, and of companies
 *    44       identifiers: for each a code (one byte), the value (UTF-8), a newline; then the text
 *
 * | | text | further text |
 * |---|---|---|
 * | a person | the brief record | the whole record |
 * | a company | the record | directors and financial periods: see `company-facts.ts` |
 *
 * A record may have identifiers alone, as that of a person who opted out: a value that two records share stays
 * ambiguous.
 */
import { crc32 } from 'node:zlib';
import { forceCrc32 } from './force-crc32.ts';

export const BLOCK_ALIGN = 16;
const HEAD_BYTES = 44;
const NEWLINE = 0x0a;
const NON_ASCII = 0x80;

/** A record as the database holds it. Codes are those of `person_identifiers.kind` or `company_identifiers.kind`. */
export interface CopiedRecord {
  id: number;
  identifiers: readonly { code: number; value: Buffer }[];
  /** The id of a person's employer; 0 for none. */
  employer: number;
  text: Uint8Array;
  /** The further text's place in its file. */
  further: { at: number; bytes: number; crc32: number };
}

/** Returns the length of a block, without the bytes that fill it up to the next multiple. */
export function blockBytes({ identifiers, text }: CopiedRecord): number {
  const held = identifiers.reduce((sum, { value }) => sum + value.length + 2, 0);
  return HEAD_BYTES + held + text.length;
}

/** Rounds up to the place of the next block. */
export function aligned(bytes: number): number {
  return Math.ceil(bytes / BLOCK_ALIGN) * BLOCK_ALIGN;
}

/** Writes a block of `bytes` bytes at `at`, where the buffer has room for it. */
export function writeBlock(record: CopiedRecord, buffer: Buffer, at: number, bytes: number): void {
  let end = at + HEAD_BYTES;
  for (const { code, value } of record.identifiers) {
    end = buffer.writeUInt8(code, end);
    end += value.copy(buffer, end);
    end = buffer.writeUInt8(NEWLINE, end);
  }
  buffer.writeUInt32LE(end - at - HEAD_BYTES, at + 32);
  buffer.writeDoubleLE(record.employer, at + 36);
  buffer.set(record.text, end);
  buffer.writeUInt32LE(bytes, at + 4);
  buffer.writeDoubleLE(record.id, at + 8);
  buffer.writeDoubleLE(record.further.at, at + 16);
  buffer.writeUInt32LE(record.further.bytes, at + 24);
  buffer.writeUInt32LE(record.further.crc32, at + 28);
  buffer.writeUInt32LE(crc32(buffer.subarray(at + 4, at + bytes)), at);
}

/** The checksum of a wiped block, at its end. */
const FORCED_BYTES = 4;

/**
 * Returns what a block, with the bytes that fill it up, is overwritten with: as long, with its id and nothing else of the
 * record. It is whole, and has the checksum of the bytes that it replaces, so that the one of its stretch stays right.
 */
export function wipedBlock(block: Buffer): Buffer {
  const wiped = Buffer.alloc(block.length);
  const bytes = block.length - FORCED_BYTES;
  // Zeros are the identifiers: no value has one.
  wiped.writeUInt32LE(bytes - HEAD_BYTES, 32);
  wiped.writeUInt32LE(bytes, 4);
  wiped.writeDoubleLE(idOf(block, 0), 8);
  wiped.writeUInt32LE(crc32(wiped.subarray(4, bytes)), 0);
  forceCrc32(wiped, crc32(block));
  return wiped;
}

/** The bytes by which a block says its length. */
export const LENGTH_BYTES = 8;

/** Returns the length that a block claims; 0 when no block can have it. */
export function claimedBytes(buffer: Buffer, at: number): number {
  const bytes = buffer.readUInt32LE(at + 4);
  return bytes < HEAD_BYTES ? 0 : bytes;
}

/** Returns true when the block of `bytes` bytes at `at` is as it was written. */
export function isWhole(buffer: Buffer, at: number, bytes: number): boolean {
  return (
    crc32(buffer.subarray(at + 4, at + bytes)) === buffer.readUInt32LE(at) &&
    textFrom(buffer, at) <= at + bytes
  );
}

export function idOf(buffer: Buffer, at: number): number {
  return buffer.readDoubleLE(at + 8);
}

export function furtherOf(buffer: Buffer, at: number): CopiedRecord['further'] {
  return {
    at: buffer.readDoubleLE(at + 16),
    bytes: buffer.readUInt32LE(at + 24),
    crc32: buffer.readUInt32LE(at + 28),
  };
}

export function employerOf(buffer: Buffer, at: number): number {
  return buffer.readDoubleLE(at + 36);
}

/** Returns where the text of a whole block begins. */
export function textFrom(buffer: Buffer, at: number): number {
  return at + HEAD_BYTES + buffer.readUInt32LE(at + 32);
}

/** Returns where the text of a whole block ends. */
export function textTo(buffer: Buffer, at: number): number {
  return at + claimedBytes(buffer, at);
}

/** Called with a code under which a record has a value, and where the record's block begins. */
export type VisitCode = (code: number, buffer: Buffer, at: number) => void;

/** Calls `visit` with each code under which the record of a whole block has the value. Returns how many. */
export function forEachCode(buffer: Buffer, at: number, value: string, visit: VisitCode): number {
  const end = textFrom(buffer, at);
  let from = at + HEAD_BYTES;
  let held = 0;
  while (from < end) {
    // A native search costs more than so few bytes.
    let to = from + 1;
    while (to < end && buffer[to] !== NEWLINE) to++;
    if (isValue(buffer, from + 1, to, value)) {
      visit(buffer[from] ?? 0, buffer, at);
      held++;
    }
    from = to + 1;
  }
  return held;
}

/** Compares without making a string, unless the value has letters of more than one byte. */
function isValue(buffer: Buffer, from: number, to: number, value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code >= NON_ASCII) return buffer.toString('utf8', from, to) === value;
    if (buffer[from + at] !== code) return false;
  }
  return to - from === value.length;
}
