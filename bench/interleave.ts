/** Interleaved runs, so that other load on the machine affects all sides. */
import type { Run, RunPair } from '../docs/bench-results.ts';
import { must } from '../src/core/lib/assert.ts';

export type { Run, RunPair };

/** Runs both sides once to warm up, then interleaves `runs` runs; the first side alternates. */
export async function interleave(
  runs: number,
  ours: () => Promise<Run>,
  reference: () => Promise<Run>,
): Promise<RunPair[]> {
  return takeTurns(runs, { ours, reference });
}

/** As `interleave`, for any number of sides. Returns the runs of each turn. */
export async function takeTurns<Side extends string>(
  runs: number,
  sides: Record<Side, () => Promise<Run>>,
): Promise<Record<Side, Run>[]> {
  const names = Object.keys(sides) as Side[];
  for (const name of names) await sides[name]();
  const turns: Record<Side, Run>[] = [];
  for (let turn = 0; turn < runs; turn++) {
    const found: Partial<Record<Side, Run>> = {};
    for (let step = 0; step < names.length; step++) {
      const name = must(names[(turn + step) % names.length], 'a side');
      found[name] = await sides[name]();
    }
    turns.push(found as Record<Side, Run>);
  }
  return turns;
}

/** The medians of a figure on each side. */
export function medians(
  pairs: readonly RunPair[],
  figure: (run: Run) => number,
): { ours: number; reference: number } {
  return {
    ours: median(pairs.map((pair) => figure(pair.ours))),
    reference: median(pairs.map((pair) => figure(pair.reference))),
  };
}

/** The middle value; the mean of the two middle ones of an even number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return (low + high) / 2;
}
