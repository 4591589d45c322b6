/** The four bytes that give a text the checksum one wants. */
import { crc32 } from 'node:zlib';

/** The polynomial of CRC-32 (ISO 3309, as in zip), bits reversed. */
const POLYNOMIAL = 0xedb88320;

/**
 * The changes of the register by one byte, and for each first byte of a change which one it is: all first bytes of such
 * a table differ.
 */
const changes = new Uint32Array(256);
const changeOf = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  let register = byte;
  for (let bit = 0; bit < 8; bit++) register = (register >>> 1) ^ (register & 1 ? POLYNOMIAL : 0);
  changes[byte] = register;
  changeOf[register >>> 24] = byte;
}

/**
 * Writes the last four of these bytes so that all of them have the CRC-32 `sum`. For each sum there is one way: the
 * register after four bytes is a permutation of the register before them.
 */
export function forceCrc32(bytes: Buffer, sum: number): void {
  const end = bytes.length - 4;
  let register = ~sum;
  for (let step = 0; step < 4; step++) {
    const byte = changeOf[register >>> 24] ?? 0;
    register = ((register ^ (changes[byte] ?? 0)) << 8) | byte;
  }
  const before = end === 0 ? 0 : crc32(bytes.subarray(0, end));
  bytes.writeUInt32LE((register ^ ~before) >>> 0, end);
}
