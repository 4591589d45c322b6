/**
 * What others notice of long lists and of slow searches: a short list beside a long one, accounts that all have
 * work, previews and single calls. These are bounds: what stands beside a figure is what was promised.
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
  /** For how long single calls are made. */
  seconds: number;
  say: (line: string) => void;
}

const SHORT_LISTS = 20;
/** Between two short lists. */
const PAUSE_MS = 200;
const LOOK_MS = 20;

const EMAILS = 5_000;
/** Single calls beside nothing, and beside long lists: how many a second, and what 99 of 100 may take. */
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
 * Single calls at a fixed rate, alone and while long lists run one after the other, their uploads included.
 * Every other call is of the account whose lists they are, and so of the same wallet.
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
