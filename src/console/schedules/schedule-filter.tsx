import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { fromHere } from '../components/lead-on.ts';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { goTo } from '../router.ts';
import { useAction, useResource } from '../use-call.ts';
import type { Schedule } from './schedule-words.ts';

interface ScheduleFilterProps {
  id: string;
  filter: string;
}

/** Stands above a search that was opened from a schedule: gives the schedule the filter as it is now. */
export function ScheduleFilter({ id, filter }: ScheduleFilterProps) {
  const path = `/v1/schedules/${id}`;
  const { data: schedule, problem } = useResource<Schedule>(path);
  const saving = useAction(async () => {
    const leadOn = fromHere();
    await call('PATCH', path, { body: { filter } });
    leadOn(`/schedules/${id}`, 'The schedule uses the new search.');
  });
  return (
    <section class="card stack tight change-of" aria-label="Search of a schedule">
      <p>
        You are changing the search of{' '}
        {schedule === undefined ? 'a schedule' : <strong>{schedule.name}</strong>}. It runs as it
        did until you save.
      </p>
      <ProblemNotice problem={saving.problem ?? problem} />
      <div class="buttons">
        <Button
          kind="primary"
          isBusy={saving.isBusy}
          isDisabled={schedule === undefined || filter === '' || filter === schedule.filter}
          onClick={() => saving.run()}
        >
          Save to the schedule
        </Button>
        <Button onClick={() => goTo(`/schedules/${id}`)}>Cancel</Button>
      </div>
    </section>
  );
}
