/**
 * Peak memory of a worker and of the API over their whole life: start, one list of a million rows, its
 * download; compared with ten lists of a tenth of the rows. The work is the same, so the difference is the cost
 * of a list's length: only the chunks in flight are held in memory.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { type BenchGraph, leadList, openBenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { interleave, median, type Run } from './interleave.ts';
import { runLine } from './line.ts';
import { readPeakMemory } from './process-cost.ts';

export interface MemoryOptions {
  graph: BenchGraph;
  /** Rows of the long list; each of the short ones has a tenth. */
  rows: number;
  /** Names of the record's fields to write; null for all of them. */
  fields: readonly string[] | null;
  runs: number;
  say: (line: string) => void;
}

/** Number of short lists for a long one. */
const SHORT_LISTS = 10;
/** Maximum ratio that counts as equal. */
const FLAT_RATIO = 1.1;

/** Measures lists of both lengths, each on a service started for them. */
export async function measureMemory(options: MemoryOptions): Promise<BenchResult[]> {
  const pairs = await interleave(
    options.runs,
    () => runLife(options, options.rows, 1),
    () => runLife(options, options.rows / SHORT_LISTS, SHORT_LISTS),
  );
  return (['worker', 'api'] as const).map((name) => {
    const peaks = (runs: Run[]) => median(runs.map((run) => Number(run[name])));
    return {
      name: `memory-${name}-${options.fields === null ? 'all-columns' : 'ten-fields'}`,
      unit: 'MiB',
      ours: peaks(pairs.map((pair) => pair.ours)),
      reference: peaks(pairs.map((pair) => pair.reference)),
      against: `peak (VmHWM) with ${SHORT_LISTS} lists of ${options.rows / SHORT_LISTS} rows; ours is with one of ${options.rows}`,
      better: 'lower' as const,
      goal: FLAT_RATIO,
      details: { rows: options.rows },
      runs: pairs,
    };
  });
}

async function runLife(
  { graph, fields, say }: MemoryOptions,
  rows: number,
  lists: number,
): Promise<Run> {
  await using stack = await openBenchStack(graph, say, {}, 1);
  const leads = await leadList(stack, rows, say);
  const result = path.join(stack.folder, 'memory.csv');
  const { api, workers, postgres } = stack.pids;
  const pids = { node: [api, ...workers], postgres };
  const runs: Run[] = [];
  const peaks: { worker: number; api: number }[] = [];
  for (let list = 0; list < lists; list++) {
    runs.push((await runLine(stack, { fields, leads }, pids, result)).run);
    // Each run starts a new reading, which includes the download at its end.
    const worker = Math.max(...(await Promise.all(workers.map(readPeakMemory))).map(Number));
    peaks.push({ worker, api: Number(await readPeakMemory(api)) });
  }
  await rm(result);
  return {
    wallSeconds: runs.reduce((sum, { wallSeconds }) => sum + wallSeconds, 0),
    worker: Math.max(...peaks.map(({ worker }) => worker)),
    api: Math.max(...peaks.map((peak) => peak.api)),
  };
}
