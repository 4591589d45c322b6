/** A list matched from a local copy of the graph, compared with the same list matched from Postgres. */
import { createHash } from 'node:crypto';
import { readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { buildCopy } from '../src/core/graph-copy/build-copy.ts';
import { copyBytes, copyFolder } from '../src/core/graph-copy/manifest.ts';
import { assert } from '../src/core/lib/assert.ts';
import { type BenchStack, leadList } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { interleave, medians, type Run } from './interleave.ts';
import { runLine } from './line.ts';
import { cpuOf } from './process-cost.ts';

export interface LocalCopyOptions {
  name: string;
  /** Names of the record's fields to write; null for all of them. */
  fields: readonly string[] | null;
  rows: number;
  runs: number;
  say: (line: string) => void;
}

/** Seconds in which the copy of a million people is to be built. */
const BUILD_SECONDS = 30;

/** Measures the build and both lists. Throws when a result or a charge differs in any byte. */
export async function measureLocalCopy(
  stack: BenchStack,
  { name, fields, rows, runs, say }: LocalCopyOptions,
): Promise<BenchResult[]> {
  const leads = await leadList(stack, rows, say);
  const folder = copyFolder(path.dirname(stack.objects));
  const started = performance.now();
  const built = await buildCopy(stack.sql, { folder });
  const buildSeconds = (performance.now() - started) / 1000;
  const hidden = `${folder}.hidden`;
  await rename(folder, hidden);
  let expected: string | null = null;
  const runList = async (): Promise<Run> => {
    const result = path.join(stack.folder, `${name}.csv`);
    const pids = { node: [stack.pids.api, ...stack.pids.workers], postgres: stack.pids.postgres };
    const { id, run } = await runLine(stack, { fields, leads }, pids, result);
    const found = createHash('sha256')
      .update(await readFile(result))
      .digest('hex');
    const both = `${run.credits} ${found}`;
    expected ??= both;
    assert(both === expected, 'the same list has the same result and price');
    await rm(result);
    await rm(path.join(stack.objects, 'batches', id), { recursive: true, force: true });
    return run;
  };
  const pairs = await interleave(
    runs,
    async () => {
      await rename(hidden, folder);
      const run = await runList();
      await rename(folder, hidden);
      return run;
    },
    runList,
  );
  await rm(hidden, { recursive: true });
  const shared = {
    unit: 's',
    against: 'the same list without a local copy of the graph',
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
      reference: (built.people * BUILD_SECONDS) / 1_000_000,
      goal: 1,
      details: {
        people: built.people,
        bytes: copyBytes(built),
      },
      runs: [],
    },
  ];
}
