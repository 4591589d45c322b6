/**
 * Tracks whether the store of the limits is available. After a failure one call retries it every 500 ms, while all
 * others decide without it and do not wait.
 */
import { Gauge } from 'prom-client';
import type { Log } from '../log.ts';
import { metrics } from '../metrics.ts';

/** Above the slowest response of a healthy server, below what a caller would notice. */
const RESPONSE_MS_MAX = 50;
/** Limits are exact again within 5 s of the store's return. */
const RETRY_MS = 500;

const degraded = new Gauge({
  name: 'enrich_rate_limit_degraded',
  help: '1 while Redis is unavailable and this process applies its share of the limits on its own.',
  registers: [metrics],
});

/** Returns true while this process decides without the store. */
export async function isLimiterDegraded(): Promise<boolean> {
  const { values } = await degraded.get();
  return values[0]?.value === 1;
}

/** Runs work on the store, or `instead` while it is unavailable. */
export type WithStore = <T>(work: () => Promise<T>, instead: () => Promise<T> | T) => Promise<T>;

/** Watches the store; logs when it becomes unavailable and when it is back. */
export function watchStore(log: Pick<Log, 'warn' | 'info'>): WithStore {
  let retryAt: number | null = null;
  return async (work, instead) => {
    if (retryAt !== null) {
      if (performance.now() < retryAt) return instead();
      retryAt = performance.now() + RETRY_MS;
    }
    try {
      const answer = await withTimeout(RESPONSE_MS_MAX, work());
      if (retryAt !== null) log.info('redis is back, limits are exact again');
      retryAt = null;
      degraded.set(0);
      return answer;
    } catch (error) {
      if (retryAt === null)
        log.warn(
          { err: error },
          'redis is unavailable, each process applies its share of the limits',
        );
      retryAt = performance.now() + RETRY_MS;
      degraded.set(1);
      return instead();
    }
  };
}

/**
 * Waits for a response, and throws when it does not arrive in time. The time counts from when the commands of this
 * turn of the event loop have been sent, and a response that arrived while this process was busy is read before it
 * counts as late: a slow process does not make the store unavailable.
 */
async function withTimeout<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let hasResponded = false;
  const late = new Promise<never>((_resolve, reject) => {
    const giveUp = () => reject(new Error(`no response within ${ms} ms`));
    setImmediate(() => {
      if (hasResponded) return;
      timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), ms);
    });
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    hasResponded = true;
    clearTimeout(timer);
  }
}
