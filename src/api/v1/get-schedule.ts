import { scheduleSchema, viewSchedule } from '../../jobs/schedule/schedule-view.ts';
import { findOwnSchedule, type Schedule } from '../../jobs/schedule/schedules.sql.ts';
import { scheduleNotFound } from '../../jobs/schedule/schedules.ts';
import { defineRoute, idParams, type RouteInput } from '../define-route.ts';
import { ownerOf } from '../owner-of.ts';
import { scheduleId } from '../schedule-options.ts';

/** One schedule. */
export const getScheduleRoute = defineRoute({
  method: 'get',
  path: '/v1/schedules/:id',
  summary: 'A schedule and when it runs next',
  scope: 'exports',
  params: idParams,
  responses: { 200: { description: 'The schedule.', schema: scheduleSchema } },
  handler: async (input) => ({ status: 200, body: viewSchedule(await ownSchedule(input)) }),
});

/** The caller's schedule. Throws `AppError` 404 for one that is not there and for anybody else's. */
export async function ownSchedule({
  context,
  key,
  params,
}: RouteInput<unknown, { id: string }>): Promise<Schedule> {
  const schedule = await findOwnSchedule(context.sql, ownerOf(key), scheduleId(params.id));
  if (schedule !== undefined) return schedule;
  throw scheduleNotFound(params.id);
}
