/**
 * Large buffers that are used again: the pages of a fresh one cost more than filling it, and one that
 * outlived two collections of the young heap is freed only by a collection of all of it.
 */

/** About two for each chunk that a process has in flight. */
const KEPT_MAX = 8;
const KEPT_BYTES_MAX = 32 * 1024 * 1024;
const BYTES_MIN = 1024 * 1024;

const kept: Buffer[] = [];

/** A buffer of at least so many bytes, a power of two; what it holds is undefined. */
export function acquireBuffer(bytes: number): Buffer {
  let best = -1;
  for (let index = 0; index < kept.length; index++) {
    const length = kept[index]?.length ?? 0;
    if (length >= bytes && (best === -1 || length < (kept[best]?.length ?? 0))) best = index;
  }
  const [found] = best === -1 ? [] : kept.splice(best, 1);
  // Pages of it that are never written cost nothing.
  return found ?? Buffer.allocUnsafeSlow(Math.max(BYTES_MIN, 2 ** Math.ceil(Math.log2(bytes))));
}

/** Takes a buffer back, for the next `acquireBuffer`: call it when nobody reads it any more, and once. */
export function releaseBuffer(buffer: Buffer): void {
  if (kept.length < KEPT_MAX && buffer.length <= KEPT_BYTES_MAX) kept.push(buffer);
}
