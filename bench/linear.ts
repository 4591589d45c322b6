/**
 * Linear scaling: a long list compared with one of a tenth of its rows, on the same warm service. Fixed costs
 * of a list make the ratio smaller; costs that grow with earlier work make it larger.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { assert } from '../src/core/lib/assert.ts';
import { type BenchStack, leadList } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { interleave, medians, type Run } from './interleave.ts';
import { runLine } from './line.ts';
import { cpuOf } from './process-cost.ts';

export interface LinearOptions {
  /** Rows of the long list; the short one has a tenth. */
  rows: number;
  fields: readonly string[];
  runs: number;
  say: (line: string) => void;
}

/** Maximum ratio of the times for ten times the rows. */
const LINEAR_RATIO = 10.5;

/** Measures both lists. Throws when a batch charges another price than the previous one. */
export async function measureLinear(
  stack: BenchStack,
  { rows, fields, runs, say }: LinearOptions,
): Promise<BenchResult[]> {
  const long = await leadList(stack, rows, say);
  const short = await leadList(stack, rows / 10, say);
  const prices = new Map<string, unknown>();
  const runList = async (leads: string): Promise<Run> => {
    const result = path.join(stack.folder, 'linear.csv');
    const pids = { node: [stack.pids.api, ...stack.pids.workers], postgres: stack.pids.postgres };
    const { id, run } = await runLine(stack, { fields, leads }, pids, result);
    await rm(result);
    await rm(path.join(stack.objects, 'batches', id), { recursive: true, force: true });
    assert(Number(run.credits) > 0, 'the list has matches');
    const price = prices.get(leads) ?? run.credits;
    assert(run.credits === price, `the same list costs the same: ${run.credits}, ${price}`);
    prices.set(leads, price);
    return run;
  };
  const pairs = await interleave(
    runs,
    () => runList(long),
    () => runList(short),
  );
  const shared = {
    unit: 's',
    against: `the same with ${rows / 10} rows; ours is with ${rows}`,
    better: 'lower' as const,
    details: { rows },
  };
  const wall = medians(pairs, (run) => run.wallSeconds);
  return [
    { ...shared, name: 'linear', ...wall, goal: LINEAR_RATIO, runs: pairs },
    { ...shared, name: 'linear-cpu', ...medians(pairs, cpuOf), goal: null, runs: [] },
  ];
}
