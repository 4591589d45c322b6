/**
 * The design that most people build first: every row of the list is a BullMQ job that looks one person up and
 * writes one row of the result. Compared with the same list through the service. It has no credits, no limits
 * and no pause.
 */
import { createReadStream } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import { environmentWithOnly, readConfig } from '../src/core/config.ts';
import { makeRowResults, readRowResults } from './bench.sql.ts';
import { type BenchStack, leadList } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { startRedis, startServant } from './child.ts';
import { type Comparison, compareResults } from './compare-results.ts';
import { interleave, median, type Run } from './interleave.ts';
import { runLine } from './line.ts';
import { cpuBetween, cpuOf, readCpu } from './process-cost.ts';
import { openRowBackend, ROW_QUEUE, type RowJob } from './row-queue.ts';

export interface JobPerRowOptions {
  store: 'postgres' | 'redis';
  rows: number;
  fields: readonly string[];
  runs: number;
  say: (line: string) => void;
}

const JOBS_PER_CALL = 1000;

/**
 * Measures both. Throws when the results differ in any cell. Without Redis its measurements are skipped. The
 * reference's time ends when the last row is in its table: it writes no file.
 */
export async function measureJobPerRow(
  stack: BenchStack,
  { store, rows, fields, runs, say }: JobPerRowOptions,
): Promise<BenchResult[]> {
  await using redis = store === 'redis' ? await startRedis() : null;
  if (store === 'redis' && redis === null) {
    say('skipped: redis-server not found');
    return [];
  }
  const { databaseUrl, sql } = stack;
  const leads = await leadList(stack, rows, say);
  const options = { databaseUrl, ...(redis === null ? {} : { redisUrl: redis.url }) };
  await using worker = startServant('bench/job-per-row-process.js', options);
  const backend = openRowBackend(readConfig(environmentWithOnly(options)), databaseUrl);
  const queue = backend.openQueue(ROW_QUEUE);
  const ourPids = { node: [stack.pids.api, ...stack.pids.workers], postgres: stack.pids.postgres };
  const pids = {
    node: [process.pid, worker.pid],
    postgres: stack.pids.postgres,
    others: redis === null ? [] : [redis.pid],
  };
  const result = path.join(stack.folder, 'job-per-row-ours.csv');
  const expected = path.join(stack.folder, 'job-per-row.csv');
  const runJobs = async (): Promise<Run> => {
    await makeRowResults(sql);
    const cpu = await readCpu(pids);
    const started = performance.now();
    const done = worker.ask<number>(rows);
    for await (const jobs of readJobs(leads)) {
      const opts = { removeOnComplete: true };
      await queue.addBulk(jobs.map((data) => ({ name: 'row', data, opts })));
    }
    await done;
    const wallSeconds = Number(((performance.now() - started) / 1000).toFixed(3));
    return { wallSeconds, cpuSeconds: cpuBetween(cpu, await readCpu(pids)) };
  };
  const runOurs = async (): Promise<Run> => {
    const { id, run } = await runLine(stack, { fields, leads }, ourPids, result);
    await rm(path.join(stack.objects, 'batches', id), { recursive: true, force: true });
    return run;
  };
  try {
    const pairs = await interleave(runs, runOurs, runJobs);
    const records = await readRowResults(sql);
    const header = fields.map((field) => `person.${field}`);
    await writeFile(expected, `${stringify([header])}${stringify(records)}`);
    const comparison = await compareResults(result, expected);
    return toResults(pairs, { store, rows, comparison });
  } finally {
    await queue.close();
    await backend.close();
    await rm(result, { force: true });
    await rm(expected, { force: true });
  }
}

/** The medians of both sides, as microseconds per row. */
function toResults(
  pairs: Awaited<ReturnType<typeof interleave>>,
  { store, rows, comparison }: { store: string; rows: number; comparison: Comparison },
): BenchResult[] {
  const name = `job-per-row-${store}`;
  const microseconds = (figure: (run: Run) => number, side: 'ours' | 'reference') =>
    (median(pairs.map((pair) => figure(pair[side]))) / rows) * 1e6;
  const compare = (figure: (run: Run) => number) => {
    return { ours: microseconds(figure, 'ours'), reference: microseconds(figure, 'reference') };
  };
  const shared = {
    unit: 'µs a row',
    against: `one BullMQ job on ${store} per row, 50 at a time, a look-up and an insert each`,
    better: 'lower' as const,
    goal: null,
    details: { rows, comparison },
  };
  return [
    { ...shared, name, ...compare((run) => run.wallSeconds), runs: pairs },
    { ...shared, name: `${name}-cpu`, ...compare(cpuOf), runs: [] },
  ];
}

/** The rows of a list as jobs, a thousand at a time. */
async function* readJobs(leads: string): AsyncGenerator<RowJob[]> {
  let jobs: RowJob[] = [];
  let row = 0;
  const records = createReadStream(leads).pipe(parse({ bom: true, columns: true }));
  for await (const record of records as AsyncIterable<Record<string, string>>) {
    const cell = (name: string) => record[name] || null;
    row++;
    jobs.push({
      row,
      profile: cell('Profile URL'),
      email: cell('E-mail'),
      phone: cell('Phone'),
      handle: cell('Twitter'),
    });
    if (jobs.length < JOBS_PER_CALL) continue;
    yield jobs;
    jobs = [];
  }
  if (jobs.length > 0) yield jobs;
}
