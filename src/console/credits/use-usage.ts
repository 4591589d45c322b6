import { useEffect, useState } from 'preact/hooks';
import { asProblem, type Problem } from '../problem.ts';
import { readUsage, type UsageLine } from './usage.ts';

/** Reads what was used from one UTC day to another. */
export function useUsage(from: string, to: string) {
  const [state, setState] = useState<{
    usage?: { lines: UsageLine[]; isWhole: boolean };
    problem: Problem | null;
  }>({ problem: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const gone = new AbortController();
    setState({ problem: null });
    readUsage(from, to, gone.signal).then(
      (usage) => !gone.signal.aborted && setState({ usage, problem: null }),
      (error) => !gone.signal.aborted && setState({ problem: asProblem(error) }),
    );
    return () => gone.abort();
  }, [from, to, round]);
  return { ...state, retry: () => setRound(round + 1) };
}
