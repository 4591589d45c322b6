/**
 * Whether the store of the limits answers. Once it did not, it is asked again now and then by one call,
 * while all others decide without it and wait for nothing.
 */
import { Gauge } from 'prom-client';
import type { Log } from '../log.ts';
import { metrics } from '../metrics.ts';

/** Above the slowest answer of a healthy server, below what a caller would notice. */
const ANSWER_MS_MAX = 50;
/** Exact limits are back within 5 s of the store's return. */
const ASK_AGAIN_MS = 500;

const degraded = new Gauge({
  name: 'enrich_rate_limit_degraded',
  help: '1 while Redis is away and this process limits by itself, at its share of the limits.',
  registers: [metrics],
});

/** Whether this process decides without the store at the moment. */
export async function areLimitsDegraded(): Promise<boolean> {
  const { values } = await degraded.get();
  return values[0]?.value === 1;
}

/** Runs work on the store, or `instead` while it is away. */
export type WithStore = <T>(work: () => Promise<T>, instead: () => Promise<T> | T) => Promise<T>;

/** `log` hears when the store goes and when it is back. */
export function watchStore(log: Pick<Log, 'warn' | 'info'>): WithStore {
  let askAgainAt: number | null = null;
  return async (work, instead) => {
    if (askAgainAt !== null) {
      if (performance.now() < askAgainAt) return instead();
      askAgainAt = performance.now() + ASK_AGAIN_MS;
    }
    try {
      const answer = await within(ANSWER_MS_MAX, work());
      if (askAgainAt !== null) log.info('redis is back, limits are exact again');
      askAgainAt = null;
      degraded.set(0);
      return answer;
    } catch (error) {
      if (askAgainAt === null) log.warn({ err: error }, 'redis is away, limits are shared out');
      askAgainAt = performance.now() + ASK_AGAIN_MS;
      degraded.set(1);
      return instead();
    }
  };
}

/**
 * Waits for an answer, and throws when none came in time. The time counts from when the commands of
 * this turn of the event loop have been sent, and an answer that has arrived while this process was
 * busy is read before it counts as late: a slow process is no reason to doubt the store.
 */
async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let isAnswered = false;
  const late = new Promise<never>((_resolve, reject) => {
    const giveUp = () => reject(new Error(`no answer within ${ms} ms`));
    setImmediate(() => {
      if (isAnswered) return;
      timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), ms);
    });
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    isAnswered = true;
    clearTimeout(timer);
  }
}
