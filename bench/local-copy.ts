/** A list or an export read from a local copy of the graph, compared with the same one read from Postgres. */
import { createHash } from 'node:crypto';
import { readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { copyFolder } from '../src/core/graph-copy/manifest.ts';
import { assert } from '../src/core/lib/assert.ts';
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { interleave, medians, type Run } from './interleave.ts';
import { type MeasuredWork, runMeasured } from './measured-run.ts';
import { cpuOf } from './process-cost.ts';

export interface LocalCopyOptions {
  name: string;
  work: MeasuredWork;
  /** The work as the results name it. */
  subject: 'list' | 'export';
  rows: number;
  runs: number;
}

/**
 * Measures both sides, each after a run that does not count: the workers open the copy, or find it gone, in the first.
 * Throws when a result or a charge differs in any byte.
 */
export async function measureLocalCopy(
  stack: BenchStack,
  { name, work, subject, rows, runs }: LocalCopyOptions,
): Promise<BenchResult[]> {
  const folder = copyFolder(path.dirname(stack.objects));
  const hidden = `${folder}.hidden`;
  // A run that failed left it.
  await rm(hidden, { recursive: true, force: true });
  await rename(folder, hidden);
  let expected: string | null = null;
  const runWork = async (): Promise<Run> => {
    const result = path.join(stack.folder, `${name}.csv`);
    const pids = { node: [stack.pids.api, ...stack.pids.workers], postgres: stack.pids.postgres };
    const { id, run } = await runMeasured(stack, work, pids, result);
    const found = createHash('sha256')
      .update(await readFile(result))
      .digest('hex');
    const both = `${run.credits} ${found}`;
    expected ??= both;
    assert(both === expected, 'the same work has the same result and price');
    await rm(result);
    await rm(path.join(stack.objects, 'batches', id), { recursive: true, force: true });
    return run;
  };
  const pairs = await interleave(
    runs,
    async () => {
      await rename(hidden, folder);
      await runWork();
      const run = await runWork();
      await rename(folder, hidden);
      return run;
    },
    async () => {
      await runWork();
      return runWork();
    },
  );
  await rename(hidden, folder);
  const shared = {
    unit: 's',
    against: `the same ${subject} without a local copy of the graph`,
    better: 'lower' as const,
    details: { rows },
  };
  return [
    { ...shared, name, ...medians(pairs, (run) => run.wallSeconds), goal: 1, runs: pairs },
    { ...shared, name: `${name}-cpu`, ...medians(pairs, cpuOf), goal: null, runs: [] },
  ];
}
