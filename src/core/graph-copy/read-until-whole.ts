/** Reads bytes that another process may be wiping: see `wipe-records.ts`. */

const TRIES_MAX = 5;
const TRY_AGAIN_MS = 5;

const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * Calls `read` until it finds the bytes whole, some times: a block is overwritten in microseconds, and whole before and
 * after. Returns false when they stay as they are. It blocks the thread.
 */
export function readUntilWhole(read: () => boolean): boolean {
  for (let tries = 1; !read(); tries++) {
    if (tries === TRIES_MAX) return false;
    Atomics.wait(pause, 0, 0, TRY_AGAIN_MS);
  }
  return true;
}
