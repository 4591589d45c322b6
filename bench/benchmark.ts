/** What a benchmark is, and the shape of what it finds. */
import type { RunPair } from './interleave.ts';

/** A finding before it is judged. */
export interface BenchResult {
  name: string;
  unit: string;
  /** Medians of the runs. */
  ours: number;
  reference: number;
  /** What `reference` is. */
  against: string;
  better: 'lower' | 'higher';
  /** The ratio to reach; null for a figure that is only told. */
  goal: number | null;
  details: Record<string, unknown>;
  runs: RunPair[];
}

/** A finding as it is written: `ratio` = ours / reference; `ok` is null without a goal. */
export type JudgedResult = BenchResult & { ratio: number; ok: boolean | null };

/** Adds the ratio and whether it reaches the goal. */
export function judge(result: BenchResult): JudgedResult {
  const ratio = Number((result.ours / result.reference).toFixed(3));
  const { goal, better } = result;
  const ok = goal === null ? null : better === 'lower' ? ratio <= goal : ratio >= goal;
  return { ...result, ratio, ok };
}
