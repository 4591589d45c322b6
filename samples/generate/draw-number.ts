/**
 * Returns a number from 0 to `n` - 1 that depends only on its arguments: there is no generator state, so any row
 * can be generated alone and again. `id` and `salt` are whole numbers below 2^32.
 */
export function drawNumber(id: number, salt: number, n: number): number {
  let hash = mix(mix(0x9e37_79b9 ^ id) ^ salt);
  hash = mix(hash ^ (salt >>> 16) ^ (id << 7));
  return (hash >>> 0) % n;
}

/** The finaliser of MurmurHash3: every input bit changes about half of the output bits. */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return hash ^ (hash >>> 16);
}
