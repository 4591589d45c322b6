/**
 * Large buffers that are reused: the pages of a fresh buffer cost more than filling it, and a buffer that outlived
 * two collections of the young heap is freed only by a full collection.
 */

/** About two for each chunk that a process has in flight. */
const KEPT_MAX = 8;
const KEPT_BYTES_MAX = 32 * 1024 * 1024;
const BYTES_MIN = 1024 * 1024;

const kept: Buffer[] = [];

/** Returns a buffer of at least `bytes` bytes (a power of two) with undefined content. */
export function acquireBuffer(bytes: number): Buffer {
  let best = -1;
  for (let index = 0; index < kept.length; index++) {
    const length = kept[index]?.length ?? 0;
    if (length >= bytes && (best === -1 || length < (kept[best]?.length ?? 0))) best = index;
  }
  const [found] = best === -1 ? [] : kept.splice(best, 1);
  // Pages that are never written cost nothing.
  return found ?? Buffer.allocUnsafeSlow(Math.max(BYTES_MIN, 2 ** Math.ceil(Math.log2(bytes))));
}

/** Takes a buffer back for the next `acquireBuffer`. Call it once, when nothing reads the buffer any more. */
export function releaseBuffer(buffer: Buffer): void {
  if (kept.length < KEPT_MAX && buffer.length <= KEPT_BYTES_MAX) kept.push(buffer);
}
