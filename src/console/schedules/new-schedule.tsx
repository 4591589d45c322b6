import { call } from '../api.ts';
import { fromHere } from '../components/lead-on.ts';
import { ScheduleForm } from './schedule-form.tsx';
import type { Schedule } from './schedule-words.ts';

/** Saves a filter as a schedule. */
export function NewSchedule({ filter }: { filter: string }) {
  return (
    <ScheduleForm
      filter={filter}
      schedule={null}
      submit="Save the schedule"
      onSubmit={async (request) => {
        const leadOn = fromHere();
        const body = { ...request, filter };
        const wanted = JSON.stringify({ ...body, name: undefined });
        const { id } = await call<Schedule>('POST', '/v1/schedules', { body, wanted });
        leadOn(`/schedules/${id}`, 'The schedule was saved.');
      }}
    />
  );
}
