import { useRef } from 'preact/hooks';
import type { Progress } from './batch.ts';

/** Long enough to smooth single chunks, short enough to forget a pause. */
const WINDOW_MS = 30_000;

interface Sample {
  at: number;
  processed: number;
}

export interface Pace {
  rowsPerSecond: number;
  /** Null while the number of rows is not known. */
  secondsLeft: number | null;
}

/** The pace of the last half minute of running, without what came before a pause; null while it cannot be told. */
export function usePace({ state, rows }: Progress): Pace | null {
  const samples = useRef<Sample[]>([]);
  if (state !== 'running') {
    samples.current = [];
    return null;
  }
  const now = Date.now();
  const last = samples.current.at(-1);
  if (last?.processed !== rows.processed) {
    samples.current.push({ at: now, processed: rows.processed });
    const isOld = ({ at }: Sample) => at < now - WINDOW_MS;
    while (samples.current.length > 2 && isOld(samples.current[0] as Sample)) {
      samples.current.shift();
    }
  }
  const [first] = samples.current;
  const latest = samples.current.at(-1);
  if (first === undefined || latest === undefined || latest.at === first.at) return null;
  const rowsPerSecond = ((latest.processed - first.processed) / (latest.at - first.at)) * 1000;
  if (rowsPerSecond <= 0) return null;
  const left = rows.total === null ? null : rows.total - rows.processed;
  return { rowsPerSecond, secondsLeft: left === null ? null : left / rowsPerSecond };
}
