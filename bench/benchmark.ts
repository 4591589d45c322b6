/** The types of a benchmark and its findings. */
import type { RunPair, StoredResult } from '../docs/bench-results.ts';

/** A finding before it is judged. */
export interface BenchResult {
  name: string;
  unit: string;
  /** Medians of the runs; NaN where the machine does not report it. */
  ours: number;
  reference: number;
  /** Description of `reference`. */
  against: string;
  better: 'lower' | 'higher';
  /** The ratio to reach; null for an informative figure. */
  goal: number | null;
  details: Record<string, unknown>;
  runs: RunPair[];
  /** Versions of other measured software, such as `duckdb`. */
  versions?: Record<string, string>;
}

/** The circumstances of a measurement. */
export type Circumstances = Pick<
  StoredResult,
  'benchmark' | 'measuredAt' | 'loadAverageBefore' | 'busyBefore' | 'versions' | 'commit'
>;

/** Adds the ratio, whether it reaches the goal, and the circumstances. */
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
