/** The credits that a schedule may cost in a month, by its next times and what its search finds today. */

import type { FileOptions } from '../exports/file-options.tsx';
import { countOf, totalOf } from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import { addressable } from '../search/filter-text.ts';
import type { Preview } from '../search/preview-panel.tsx';
import { session } from '../session.ts';
import { useAsTyped } from '../use-as-typed.ts';
import { type NextRunsAnswer, nextRunsPath } from './next-runs.tsx';
import { runsPerMonth } from './runs-per-month.ts';
import type { ScheduleMode } from './schedule.ts';

interface MonthlyCostProps {
  filter: string;
  cron: string;
  zone: string;
  mode: ScheduleMode;
  options: FileOptions;
}

export function MonthlyCost({ filter, cron, zone, mode, options }: MonthlyCostProps) {
  const next = useAsTyped<NextRunsAnswer>(nextRunsPath(cron, zone));
  const preview = useAsTyped<Preview>(
    filter === '' ? null : `/personsearch/preview?${addressable(filter)}`,
  );
  const runs = next.problem === null ? runsPerMonth(next.data?.next_runs ?? []) : null;
  if (session.get()?.key.mode !== 'live' || runs === null) return null;
  const found = preview.problem === null ? preview.data : undefined;
  const most = Math.min(
    (options.maxResults ?? Number.POSITIVE_INFINITY) * PERSON_PRICE,
    options.maxCredits ?? Number.POSITIVE_INFINITY,
  );
  const whole = found === undefined ? Number.POSITIVE_INFINITY : found.total * PERSON_PRICE;
  const perRun = Math.min(most, whole);
  if (!Number.isFinite(perRun)) return null;
  const isEstimate = found !== undefined && whole <= most && found.total_is === 'about';
  const price = totalOf({ total: perRun, total_is: isEstimate ? 'about' : 'exact' }, 'credit');
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
