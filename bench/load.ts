/**
 * The effect of long lists and slow searches on other accounts: a short list during a long one, many busy
 * accounts, previews and single calls. These are bounds: each figure is compared with its promise.
 */
import { setTimeout } from 'node:timers/promises';
import { createClient } from '../src/client/client.ts';
import { assert } from '../src/core/lib/assert.ts';
import { listEmails } from './bench.sql.ts';
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
import { measureBesideSearches } from './load-searches.ts';
import { completed } from './measured-run.ts';
import type { Latencies, OpenLoop } from './open-loop.ts';
import { runBatches } from './run-batches.ts';
import { measureSharing } from './sharing.ts';
import { describeShortLists, runShortList } from './short-list.ts';

export interface LoadOptions {
  graph: BenchGraph;
  /** Rows of the long list. */
  rows: number;
  fields: readonly string[];
  /** Duration of the single calls. */
  seconds: number;
  say: (line: string) => void;
}

const SHORT_LISTS = 20;
/** Pause between two short lists. */
const PAUSE_MS = 200;
const LOOK_MS = 20;

const EMAILS = 5_000;
/** Single calls alone, and during long lists: calls a second, and the maximum for 99 of 100. */
const alone = { perSecond: 200, p99Ms: 25 };
const beside = { perSecond: 100, p99Ms: 30 };
const ALONE_SECONDS = 10;

/** Measures all of it, sharing with one worker and with two. Throws when anything is refused or fails. */
export async function measureLoad(options: LoadOptions): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const workers of [1, 2]) {
    await using stack = await openBenchStack(options.graph, options.say, {}, workers);
    results.push(...(await measureSharing(stack, options, workers)));
    if (workers > 1) continue;
    results.push(await measureShortLists(stack, options));
    results.push(...(await measureCalls(stack, options)));
    results.push(...(await measureBesideSearches(stack, options.say)));
  }
  return results;
}

/** Runs short lists in sequence while a long one of another account runs. */
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
    // Only those that ended while the long list ran count.
    if ((await read()).state !== 'running') break;
    seconds.push(taken);
    await setTimeout(PAUSE_MS);
  }
  await completed(read);
  assert(seconds.length > 0, 'the long list runs longer than a short one');
  return describeShortLists('load-short-list', seconds, `${rows} rows of another account run`);
}

/**
 * Single calls at a fixed rate, alone and while long lists run in sequence, including their uploads. Every
 * other call is of the lists' account, and so uses the same wallet.
 */
async function measureCalls(
  stack: BenchStack,
  { rows, fields, seconds, say }: LoadOptions,
): Promise<BenchResult[]> {
  const leads = await leadList(stack, rows, say);
  const emails = await listEmails(stack.sql, EMAILS);
  const [own, other] = [await createBenchKey(stack.sql), await createBenchKey(stack.sql)];
  const call = (perSecond: number, forSeconds: number) =>
    askChild<Latencies>('bench/open-loop-process.js', {
      addresses: emails.map(
        (email) => `${stack.url}/v1/people/enrich?email=${encodeURIComponent(email)}`,
      ),
      headers: [own, other].map((key) => ({ Authorization: `Bearer ${key}` })),
      perSecond,
      seconds: forSeconds,
    } satisfies OpenLoop);
  await call(alone.perSecond, 2);
  const found = describeCalls(
    'load-calls-alone-p99',
    await call(alone.perSecond, ALONE_SECONDS),
    alone,
    'nothing else runs',
  );
  const lists = runBatches(stack, { fields, leads }, async () => own);
  const latencies = await call(beside.perSecond, seconds);
  const listsDone = await lists.stop();
  assert(listsDone > 0, 'a list is done meanwhile');
  return [found, describeCalls('load-calls-p99', latencies, beside, `lists of ${rows} rows run`)];
}

function describeCalls(
  name: string,
  latencies: Latencies,
  { perSecond, p99Ms }: typeof alone,
  meanwhile: string,
): BenchResult {
  assert(latencies.failed === 0, `${latencies.failed} calls were not answered with 200`);
  return {
    name,
    unit: 'ms',
    ours: latencies.p99,
    reference: p99Ms,
    against: `${p99Ms} ms for 99 of 100, at ${perSecond} calls a second while ${meanwhile}`,
    better: 'lower',
    goal: 1,
    details: { ...latencies },
    runs: [],
  };
}
