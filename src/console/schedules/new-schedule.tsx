import { call } from '../api.ts';
import { makeAndOpen } from '../components/lead-on.ts';
import { ScheduleForm } from './schedule-form.tsx';
import type { Schedule } from './schedule-words.ts';

/** Saves a filter as a schedule. */
export function NewSchedule({ filter }: { filter: string }) {
  return (
    <ScheduleForm
      filter={filter}
      schedule={null}
      submit="Save the schedule"
      onSubmit={(request) =>
        makeAndOpen('schedule', 'saved', async (onRepeated) => {
          const body = { ...request, filter };
          const wanted = JSON.stringify({ ...body, name: undefined });
          const options = { body, wanted, onRepeated };
          const { id, created_at: at } = await call<Schedule>('POST', '/v1/schedules', options);
          return { path: `/schedules/${id}`, at };
        })
      }
    />
  );
}
