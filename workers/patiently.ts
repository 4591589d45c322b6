/** Calls of a client whose service is away for a moment: a process of it starts again in seconds. */
import { setTimeout } from 'node:timers/promises';
import { ProblemError } from '../src/client/client.ts';
import { say } from './output.ts';

const AWAY_MS_MAX = 60_000;
const RETRY_MS = 500;

/**
 * Calls until the service answers with anything but a 5xx, for a minute at most; then throws what the
 * last call threw. Only for calls that may happen twice.
 */
export async function patiently<T>(call: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + AWAY_MS_MAX;
  for (let told = false; ; told = true) {
    try {
      return await call();
    } catch (error) {
      if (!isAway(error) || Date.now() > deadline) throw error;
      if (!told) say('The service does not answer; trying again for a minute.');
      await setTimeout(RETRY_MS);
    }
  }
}

/** `fetch` throws a TypeError when no connection comes about. */
function isAway(error: unknown): boolean {
  return error instanceof ProblemError ? error.status >= 500 : error instanceof TypeError;
}
