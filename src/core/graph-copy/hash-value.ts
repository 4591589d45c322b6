/** The place of a value in the table of identifiers, and the 32 bits of it that are stored there. */
export interface ValueHash {
  /** From 0 up to 2^32. */
  place: number;
  /** From 1 up to 2^32. */
  fingerprint: number;
}

/**
 * Hashes an identifier's canonical value into `hash`, which is reused: this runs for every value of a list. Not a
 * cryptographic hash, and two values may share it, so the value itself is compared as well. `seed` is a whole
 * number of 32 bits, another one for each copy: no source of values can choose ones that collide.
 */
export function hashValue(value: string, seed: number, hash: ValueHash): void {
  let place = seed | 0;
  let mark = ~seed;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    place = Math.imul(place ^ code, 0x85ebca6b);
    place = (place << 13) | (place >>> 19);
    mark = Math.imul(mark + code, 0xc2b2ae35);
    mark ^= mark >>> 15;
  }
  hash.place = mixed(place ^ value.length);
  hash.fingerprint = mixed(mark) || 1;
}

/** The last steps of MurmurHash3 (Austin Appleby, public domain): every bit of the input changes half of the output. */
function mixed(bits: number): number {
  let value = bits ^ (bits >>> 16);
  value = Math.imul(value, 0x85ebca6b);
  value ^= value >>> 13;
  value = Math.imul(value, 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
