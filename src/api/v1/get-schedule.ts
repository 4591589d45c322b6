import { scheduleSchema, viewSchedule } from '../../jobs/schedule/schedule-view.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { scheduleOfPath } from '../own-objects.ts';

export const getScheduleRoute = defineRoute({
  method: 'get',
  path: '/v1/schedules/:id',
  summary: 'A schedule and when it runs next',
  scope: 'exports',
  params: idParams,
  responses: { 200: { description: 'The schedule.', schema: scheduleSchema } },
  handler: async (input) => ({ status: 200, body: viewSchedule(await scheduleOfPath(input)) }),
});
