import type { Calls } from '../../client/api-types.ts';
import { ProblemNotice } from '../components/problem-notice.tsx';
import type { AsTyped } from '../use-as-typed.ts';
import { ZoneTime } from './zone-time.tsx';

export type NextRunsAnswer = Calls['GET /v1/schedules/preview']['response'];

/** The answer for these times of a schedule. */
export function nextRunsPath(cron: string, zone: string): string {
  return `/v1/schedules/preview?${new URLSearchParams({ cron, time_zone: zone })}`;
}

interface NextRunsProps {
  next: AsTyped<NextRunsAnswer>;
  zone: string;
}

export function NextRuns({ next: { data, problem, isSettled }, zone }: NextRunsProps) {
  return (
    <div class={isSettled ? 'next-runs settling' : 'next-runs settling stale'} aria-live="polite">
      <h2>Next 5 runs</h2>
      {problem === null && data === undefined && <p class="soft">Looking …</p>}
      {problem === null && data !== undefined && (
        <ol>
          {data.next_runs.map((iso) => (
            <li key={iso}>
              <ZoneTime iso={iso} zone={zone} />
            </li>
          ))}
        </ol>
      )}
      {problem?.status === 400 && <p class="soft">These times cannot be read yet.</p>}
      {problem !== null && problem.status !== 400 && <ProblemNotice problem={problem} />}
    </div>
  );
}
