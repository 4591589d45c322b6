import { scheduleSchema, viewSchedule } from '../../jobs/schedule/schedule-view.ts';
import type { Schedule } from '../../jobs/schedule/schedules.sql.ts';
import { requireOwnSchedule } from '../../jobs/schedule/schedules.ts';
import { defineRoute, idParams, type RouteInput } from '../define-route.ts';
import { ownerOf } from '../owner-of.ts';
import { parseId } from '../parse-parameters.ts';

/** Returns one schedule. */
export const getScheduleRoute = defineRoute({
  method: 'get',
  path: '/v1/schedules/:id',
  summary: 'A schedule and when it runs next',
  scope: 'exports',
  params: idParams,
  responses: { 200: { description: 'The schedule.', schema: scheduleSchema } },
  handler: async (input) => ({ status: 200, body: viewSchedule(await ownSchedule(input)) }),
});

/** Returns the caller's schedule. Throws `AppError` 404, also for one of another account. */
export function ownSchedule({
  context,
  key,
  params,
}: RouteInput<unknown, { id: string }>): Promise<Schedule> {
  return requireOwnSchedule(context.sql, ownerOf(key), parseId('Schedule', params.id));
}
