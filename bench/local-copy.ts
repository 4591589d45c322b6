/** A list or an export read from a local copy of the graph, compared with the same one read from Postgres. */
import { createHash } from 'node:crypto';
import { readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { buildCopy } from '../src/core/graph-copy/build-copy.ts';
import { copyBytes, copyFolder } from '../src/core/graph-copy/manifest.ts';
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

/** Seconds in which the copy of a million people is to be built. */
const BUILD_SECONDS = 30;

/** Measures the build and both sides. Throws when a result or a charge differs in any byte. */
export async function measureLocalCopy(
  stack: BenchStack,
  { name, work, subject, rows, runs }: LocalCopyOptions,
): Promise<BenchResult[]> {
  const folder = copyFolder(path.dirname(stack.objects));
  const started = performance.now();
  const built = await buildCopy(stack.sql, { folder });
  const buildSeconds = (performance.now() - started) / 1000;
  const hidden = `${folder}.hidden`;
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
      const run = await runWork();
      await rename(folder, hidden);
      return run;
    },
    runWork,
  );
  await rm(hidden, { recursive: true });
  const shared = {
    unit: 's',
    against: `the same ${subject} without a local copy of the graph`,
    better: 'lower' as const,
    details: { rows },
  };
  return [
    { ...shared, name, ...medians(pairs, (run) => run.wallSeconds), goal: 1, runs: pairs },
    { ...shared, name: `${name}-cpu`, ...medians(pairs, cpuOf), goal: null, runs: [] },
    {
      ...shared,
      name: `${name}-build`,
      against: `${BUILD_SECONDS} s for a million people`,
      ours: buildSeconds,
      reference: (built.people.count * BUILD_SECONDS) / 1_000_000,
      goal: 1,
      details: {
        people: built.people.count,
        bytes: copyBytes(built),
      },
      runs: [],
    },
  ];
}
