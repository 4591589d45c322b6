/**
 * What others notice of long lists: a short list beside one, accounts that all have work, and single
 * calls. These are bounds: what stands beside a figure is what was promised.
 */
import { setTimeout } from 'node:timers/promises';
import { createClient } from '../src/client/client.ts';
import { assert } from '../src/core/lib/assert.ts';
import {
  type BenchGraph,
  type BenchStack,
  createBenchKey,
  leadList,
  openBenchStack,
} from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { askChild } from './child.ts';
import { upload } from './line.ts';
import { completed } from './measured-run.ts';
import type { Latencies, OpenLoop } from './open-loop.ts';
import { listEmails } from './queries.ts';
import { runBatches } from './run-batches.ts';
import { measureSharing } from './sharing.ts';
import { describeShortLists, runShortList } from './short-list.ts';

export interface LoadOptions {
  graph: BenchGraph;
  /** Rows of the long list. */
  rows: number;
  fields: readonly string[];
  /** For how long single calls are made. */
  seconds: number;
  say: (line: string) => void;
}

const SHORT_LISTS = 20;
/** Between two short lists. */
const PAUSE_MS = 200;
const LOOK_MS = 20;

const CALLS_PER_SECOND = 100;
const CALL_MS_MAX = 30;
const EMAILS = 5_000;
/** For which calls are made beside nothing, to compare. */
const ALONE_SECONDS = 5;

/** Measures all of it, sharing with one worker and with two. Throws when anything is refused or fails. */
export async function measureLoad(options: LoadOptions): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const workers of [1, 2]) {
    await using stack = await openBenchStack(options.graph, options.say, {}, workers);
    results.push(...(await measureSharing(stack, options, workers)));
    if (workers > 1) continue;
    results.push(await measureShortLists(stack, options));
    results.push(await measureCalls(stack, options));
  }
  return results;
}

/** Short lists one after the other while a long one of another account runs. */
async function measureShortLists(
  stack: BenchStack,
  { rows, fields, say }: LoadOptions,
): Promise<BenchResult> {
  const leads = await leadList(stack, rows, say);
  const key = await createBenchKey(stack.sql);
  const client = createClient(stack.url, key);
  const long = await upload(stack.url, key, { fields, leads });
  const read = () => client.getBatch(long);
  while ((await read()).rows.processed === 0) await setTimeout(LOOK_MS);
  const seconds: number[] = [];
  while (seconds.length < SHORT_LISTS) {
    const taken = await runShortList(stack, say);
    // Only one that ended while the long list ran was beside it.
    if ((await read()).state !== 'running') break;
    seconds.push(taken);
    await setTimeout(PAUSE_MS);
  }
  await completed(read);
  assert(seconds.length > 0, 'the long list runs longer than a short one');
  return describeShortLists('load-short-list', seconds, `${rows} rows of another account run`);
}

/**
 * Single calls at a fixed rate while long lists run one after the other, their uploads included. Every
 * other call is of the account whose lists they are, and so of the same wallet.
 */
async function measureCalls(
  stack: BenchStack,
  { rows, fields, seconds, say }: LoadOptions,
): Promise<BenchResult> {
  const leads = await leadList(stack, rows, say);
  const emails = await listEmails(stack.sql, EMAILS);
  const [own, other] = [await createBenchKey(stack.sql), await createBenchKey(stack.sql)];
  const call = (forSeconds: number) =>
    askChild<Latencies>('bench/open-loop-process.js', {
      addresses: emails.map(
        (email) => `${stack.url}/v1/people/enrich?email=${encodeURIComponent(email)}`,
      ),
      headers: [own, other].map((key) => ({ Authorization: `Bearer ${key}` })),
      perSecond: CALLS_PER_SECOND,
      seconds: forSeconds,
    } satisfies OpenLoop);
  const alone = await call(ALONE_SECONDS);
  const lists = runBatches(stack, { fields, leads }, async () => own);
  const beside = await call(seconds);
  const listsDone = await lists.stop();
  const failed = alone.failed + beside.failed;
  assert(failed === 0, `${failed} calls were not answered with 200`);
  return {
    name: 'load-calls-p99',
    unit: 'ms',
    ours: beside.p99,
    reference: CALL_MS_MAX,
    against: `${CALL_MS_MAX} ms, at ${CALLS_PER_SECOND} calls a second while lists of ${rows} rows run`,
    better: 'lower',
    goal: 1,
    details: { alone, beside, listsDone },
    runs: [
      {
        ours: { wallSeconds: seconds, ...beside },
        reference: { wallSeconds: ALONE_SECONDS, ...alone },
      },
    ],
  };
}
