/** The credits that a schedule may cost in a month, by its next times and what its search finds today. */

import type { FileOptions } from '../exports/file-options.tsx';
import { countOf } from '../format.ts';
import { session } from '../session.ts';
import { useAsTyped } from '../use-as-typed.ts';
import { type NextRunsAnswer, nextRunsPath } from './next-runs.tsx';
import { runsPerMonth } from './runs-per-month.ts';
import type { ScheduleMode } from './schedule-words.ts';
import { useRunPrice } from './use-run-price.ts';

interface MonthlyCostProps {
  filter: string;
  cron: string;
  zone: string;
  mode: ScheduleMode;
  options: FileOptions;
}

export function MonthlyCost({ filter, cron, zone, mode, options }: MonthlyCostProps) {
  const next = useAsTyped<NextRunsAnswer>(nextRunsPath(cron, zone));
  const { most, credits: perRun, said: price } = useRunPrice(filter, options);
  const runs = next.problem === null ? runsPerMonth(next.data?.next_runs ?? []) : null;
  if (session.get()?.key.mode !== 'live' || runs === null) return null;
  if (!Number.isFinite(perRun)) return null;
  return (
    <p class="notice" aria-live="polite">
      {mode === 'all' ? (
        <>
          Up to <strong>{countOf(perRun * runs, 'credit')} a month</strong> at today’s count:{' '}
          {countOf(runs, 'run')} of {price} each.
        </>
      ) : (
        <>
          Up to {price} for the first run. After that only people who are new to it are charged
          {Number.isFinite(most) && <>, at most {countOf(most * runs, 'credit')} a month</>}.
        </>
      )}
    </p>
  );
}
