/**
 * The cost of a list with thousands of open lists of other accounts, whose keys may run one row a minute: they
 * stay open for any time and are free to create.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createClient } from '../src/client/client.ts';
import { inTransaction } from '../src/core/db/client.ts';
import { must } from '../src/core/lib/assert.ts';
import { dispatchChunks } from '../src/jobs/batch/dispatch.sql.ts';
import { claimChunk } from '../src/jobs/chunk/claim-chunk.sql.ts';
import { type BenchStack, createBenchKey, leadList } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { upload } from './line.ts';
import { completed, secondsSince } from './measured-run.ts';
import {
  countOpenLists,
  endOpenLists,
  insertOpenLists,
  queueBatch,
  settleBatches,
} from './open-lists.sql.ts';

const LISTS = [5_000, 50_000];
const ACCOUNTS = 100;
const RATIO_MAX = 1.2;
const RUNS = 9;
const CLAIMS = 100;
const LOOK_MS = 250;

interface OpenListsOptions {
  /** Rows of the list that is measured. */
  rows: number;
  fields: readonly string[];
  say: (line: string) => void;
}

/** Seconds of each run, and the median milliseconds of dispatching and claiming a chunk. */
interface Timing {
  seconds: number[];
  claimMs: number;
}

/** Measures the list alone and with each number of open lists. Throws when a list fails. */
export async function measureOpenLists(
  stack: BenchStack,
  options: OpenListsOptions,
): Promise<BenchResult[]> {
  const like = await holdOneRow(stack);
  await timeLists(stack, options, like, 1);
  const results: BenchResult[] = [];
  for (const lists of LISTS) {
    const noise = { like, lists, accounts: ACCOUNTS, rowsPerMinute: 1 };
    const accounts = await insertOpenLists(stack.sql, noise);
    options.say(`Waiting until the keys of ${lists} open lists have used up their rows ...`);
    await untilAllWait(stack, accounts);
    await settleBatches(stack.sql);
    const beside = await timeLists(stack, options, like, RUNS);
    const open = await countOpenLists(stack.sql, accounts);
    await endOpenLists(stack.sql, accounts);
    // Right after the other runs, because the load of the machine may change within minutes.
    const alone = await timeLists(stack, options, like, RUNS);
    results.push(describe(lists, alone, beside, open));
  }
  return results;
}

function describe(
  lists: number,
  alone: Timing,
  beside: Timing,
  open: Record<string, number>,
): BenchResult {
  return {
    name: `load-open-lists-${lists}`,
    unit: 's',
    ours: median(beside.seconds),
    reference: median(alone.seconds),
    against: `the same list alone, beside ${lists} open lists of ${ACCOUNTS} other accounts`,
    better: 'lower',
    goal: RATIO_MAX,
    details: { claimMs: beside.claimMs, claimAloneMs: alone.claimMs, open },
    runs: beside.seconds.map((wallSeconds, run) => ({
      ours: { wallSeconds },
      reference: { wallSeconds: must(alone.seconds[run], 'run') },
    })),
  };
}

/** Creates a held list of one unmatchable row. Returns its id. */
async function holdOneRow(stack: BenchStack): Promise<string> {
  const leads = path.join(stack.folder, 'one-row.csv');
  await writeFile(leads, 'email\nnobody@open-lists.example\n');
  const key = await createBenchKey(stack.sql);
  const id = await upload(stack.url, key, { fields: ['id'], leads, hold: true });
  const client = createClient(stack.url, key);
  while ((await client.getBatch(id)).state !== 'ready') await setTimeout(LOOK_MS);
  return id;
}

async function timeLists(
  stack: BenchStack,
  { rows, fields, say }: OpenListsOptions,
  like: string,
  runs: number,
): Promise<Timing> {
  const leads = await leadList(stack, rows, say);
  const seconds: number[] = [];
  for (let run = 0; run < runs; run++) {
    const key = await createBenchKey(stack.sql);
    const client = createClient(stack.url, key);
    const started = performance.now();
    const id = await upload(stack.url, key, { fields, leads });
    await completed(() => client.getBatch(id));
    seconds.push(secondsSince(started));
  }
  return { seconds, claimMs: await timeClaims(stack, like) };
}

/** The median milliseconds of a dispatch with its claim, each in a transaction that is rolled back. */
async function timeClaims({ sql }: BenchStack, like: string): Promise<number> {
  const taken: number[] = [];
  for (let claim = 0; claim < CLAIMS; claim++) {
    await inTransaction(sql, async (tx) => {
      await queueBatch(tx, like);
      const started = performance.now();
      const [chunk] = await dispatchChunks(tx, { perAccount: 8, waitingMax: 50 });
      await claimChunk(tx, must(chunk, 'a chunk'));
      taken.push(performance.now() - started);
      throw undone;
    }).catch((error) => {
      if (error !== undone) throw error;
    });
  }
  return Number(median(taken).toFixed(2));
}

const undone = new Error('nothing of it stays');

/** Every list was postponed, except those that ran in the minutes that this took. */
async function untilAllWait(stack: BenchStack, accounts: readonly string[]): Promise<void> {
  for (;;) {
    const open = await countOpenLists(stack.sql, accounts);
    const runnable = (open.queued ?? 0) + (open.running ?? 0);
    if (runnable <= accounts.length / 10) return;
    await setTimeout(LOOK_MS);
  }
}

function median(values: readonly number[]): number {
  return must(values.toSorted((a, b) => a - b)[values.length >> 1], 'value');
}
