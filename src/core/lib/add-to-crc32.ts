import { crc32 } from 'node:zlib';

/** Returns the checksum of the bytes summed so far followed by these. */
export function addToCrc32(sum: number, bytes: Uint8Array): number {
  // For no bytes Node returns 0, whatever the previous sum.
  return bytes.length === 0 ? sum : crc32(bytes, sum);
}
