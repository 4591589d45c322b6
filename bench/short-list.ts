/** A list of a hundred rows of a new account, with the time that its owner waits. */
import { createClient } from '../src/client/client.ts';
import { type BenchStack, createBenchKey, leadList } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { upload } from './line.ts';
import { completed, secondsSince } from './measured-run.ts';

const ROWS = 100;
const SECONDS_MAX = 5;

/** Seconds from the first byte of the upload to the state `completed`. */
export async function runShortList(
  stack: BenchStack,
  say: (line: string) => void,
): Promise<number> {
  const leads = await leadList(stack, ROWS, say);
  const key = await createBenchKey(stack.sql);
  const client = createClient(stack.url, key);
  const started = performance.now();
  const id = await upload(stack.url, key, { fields: null, leads });
  await completed(() => client.getBatch(id));
  return secondsSince(started);
}

/** Compares the slowest of them with the promise. `beside` describes the concurrent load. */
export function describeShortLists(
  name: string,
  seconds: readonly number[],
  beside: string,
): BenchResult {
  return {
    name,
    unit: 's',
    ours: Math.max(...seconds),
    reference: SECONDS_MAX,
    against: `${SECONDS_MAX} s, the slowest list of ${ROWS} rows while ${beside}`,
    better: 'lower',
    goal: 1,
    details: { lists: seconds.length },
    runs: seconds.map((wallSeconds) => ({
      ours: { wallSeconds },
      reference: { wallSeconds: SECONDS_MAX },
    })),
  };
}
