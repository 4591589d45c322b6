/** Waits for other processes: polls until a deadline. */
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 50;

/**
 * Resolves with the result of `probe` once it is neither undefined nor false. Throws with `what` after
 * `withinMs`, or at once when `probe` throws.
 */
export async function waitFor<T>(
  what: string,
  withinMs: number,
  probe: () => Promise<T | undefined | false>,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  while (true) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs / 1000} s: ${what}`);
    await delay(POLL_MS);
  }
}
