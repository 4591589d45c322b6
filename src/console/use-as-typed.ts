import { useEffect, useState } from 'preact/hooks';
import { call } from './api.ts';
import { asProblem, type Problem } from './problem.ts';

const PAUSE_MS = 300;

export interface AsTyped<Data> {
  /** The last good answer, which may be that of an older path. */
  data: Data | undefined;
  problem: Problem | null;
  /** True when data or problem are those of this path. */
  isSettled: boolean;
}

/**
 * Reads a path that changes as the user types: after a pause, one request at a time, and never an older
 * answer behind a newer one. Null reads nothing.
 */
export function useAsTyped<Data>(path: string | null): AsTyped<Data> {
  const [state, setState] = useState<{
    path: string | null;
    data?: Data;
    problem: Problem | null;
  }>({ path: null, problem: null });
  useEffect(() => {
    if (path === null) {
      setState({ path, problem: null });
      return;
    }
    const gone = new AbortController();
    const read = async () => {
      try {
        const data = await call<Data>('GET', path, { signal: gone.signal });
        if (!gone.signal.aborted) setState({ path, data, problem: null });
      } catch (error) {
        if (gone.signal.aborted) return;
        setState((before) => ({ ...before, path, problem: asProblem(error) }));
      }
    };
    const timer = setTimeout(read, PAUSE_MS);
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [path]);
  const isSettled = state.path === path;
  return { data: state.data, problem: isSettled ? state.problem : null, isSettled };
}
