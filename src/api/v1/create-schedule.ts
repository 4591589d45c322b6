import { checkExport } from '../../jobs/export/create-export.ts';
import { savedScheduleSchema, viewSchedule } from '../../jobs/schedule/schedule-view.ts';
import { createSchedule } from '../../jobs/schedule/schedules.ts';
import { defineRoute } from '../http/define-route.ts';
import { ownerWithKeyOf } from '../owner-of.ts';
import { scheduleOptions, toScheduleRequest } from '../schedule-options.ts';
import { unknownValuesInTurn } from '../unknown-values-in-turn.ts';

/** Creates a schedule, which creates an export at each time of a cron expression. */
export const createScheduleRoute = defineRoute({
  method: 'post',
  path: '/v1/schedules',
  summary: 'Create a recurring export',
  scope: 'exports',
  body: scheduleOptions,
  idempotent: true,
  responses: { 201: { description: 'The schedule.', schema: savedScheduleSchema } },
  locates: true,
  async handler({ context, key, body, response, commit }) {
    const request = toScheduleRequest(body);
    checkExport(request, context.config);
    const owner = ownerWithKeyOf(key);
    const unknownValues = await unknownValuesInTurn({ context, key, response }, request.filter);
    return commit(async (tx) => {
      const made = await createSchedule(tx, context.config, owner, request);
      return { status: 201, body: { ...viewSchedule(made), unknown_values: unknownValues } };
    });
  },
});
