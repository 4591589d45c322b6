/** What a benchmark is, and the shape of what it finds. */
import type { RunPair, StoredResult } from '../docs/bench-results.ts';

/** A finding before it is judged. */
export interface BenchResult {
  name: string;
  unit: string;
  /** Medians of the runs; NaN where the machine does not tell. */
  ours: number;
  reference: number;
  /** What `reference` is. */
  against: string;
  better: 'lower' | 'higher';
  /** The ratio to reach; null for a figure that is only told. */
  goal: number | null;
  details: Record<string, unknown>;
  runs: RunPair[];
  /** Versions of what was measured beside the service, such as `duckdb`. */
  versions?: Record<string, string>;
}

/** How and when something was measured. */
export type Circumstances = Pick<
  StoredResult,
  'benchmark' | 'measuredAt' | 'loadAverageBefore' | 'busyBefore' | 'versions' | 'commit'
>;

/** Adds the ratio, whether it reaches the goal, and how it was measured. */
export function judge(result: BenchResult, circumstances: Circumstances): StoredResult {
  const known = (value: number) => (Number.isFinite(value) ? value : null);
  const ratio = known(Number((result.ours / result.reference).toFixed(3)));
  const { goal, better } = result;
  const reaches =
    ratio !== null && (better === 'lower' ? ratio <= Number(goal) : ratio >= Number(goal));
  return {
    ...result,
    ...circumstances,
    ours: known(result.ours),
    reference: known(result.reference),
    ratio,
    ok: goal === null ? null : reaches,
    versions: { ...circumstances.versions, ...result.versions },
  };
}
