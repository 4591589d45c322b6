import { scheduleSchema, viewSchedule } from '../../jobs/schedule/schedule-view.ts';
import { createSchedule } from '../../jobs/schedule/schedules.ts';
import { defineRoute } from '../define-route.ts';
import { ownerOf } from '../owner-of.ts';
import { scheduleOptions, toScheduleRequest } from '../schedule-options.ts';

/** Creates a schedule, which creates an export at each time of a cron expression. */
export const createScheduleRoute = defineRoute({
  method: 'post',
  path: '/v1/schedules',
  summary: 'Create a recurring export',
  scope: 'exports',
  body: scheduleOptions,
  idempotent: true,
  responses: { 201: { description: 'The schedule.', schema: scheduleSchema } },
  locates: true,
  handler: ({ context, key, body, commit }) =>
    commit(async (tx) => {
      const owner = { ...ownerOf(key), keyId: key.id };
      const made = await createSchedule(tx, context.config, owner, toScheduleRequest(body));
      return { status: 201, body: viewSchedule(made) };
    }),
});
