import { useEffect, useState } from 'preact/hooks';
import { asProblem, type Problem } from '../problem.ts';
import { readUsage, type UsageLine } from './usage.ts';

interface Read {
  range: string;
  usage?: { lines: UsageLine[]; isWhole: boolean };
  problem: Problem | null;
}

/** Reads what was used from one UTC day to another, and again when the wallet, as a text, changes. */
export function useUsage(from: string, to: string, wallet = '') {
  const range = `${from} ${to}`;
  const [read, setRead] = useState<Read>({ range, problem: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const gone = new AbortController();
    readUsage(from, to, gone.signal).then(
      (usage) => !gone.signal.aborted && setRead({ range, usage, problem: null }),
      (error) => !gone.signal.aborted && setRead({ range, problem: asProblem(error) }),
    );
    return () => gone.abort();
  }, [range, round, wallet]);
  const shown: Omit<Read, 'range'> = read.range === range ? read : { problem: null };
  return { usage: shown.usage, problem: shown.problem, retry: () => setRound(round + 1) };
}
