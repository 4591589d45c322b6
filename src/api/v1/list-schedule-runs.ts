import { z } from 'zod';
import { viewRun } from '../../jobs/schedule/schedule-view.ts';
import { listRuns } from '../../jobs/schedule/schedules.sql.ts';
import { defineRoute, idParams } from '../define-route.ts';
import { ownSchedule } from './get-schedule.ts';

/** What became of each slot of a schedule, latest first. The cursor is the slot of the last one. */
export const listScheduleRunsRoute = defineRoute({
  method: 'get',
  path: '/v1/schedules/:id/runs',
  summary: 'Runs of a schedule, latest first, with rows and credits',
  scope: 'exports',
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(100).default(20),
    cursor: z.iso.datetime().optional(),
  }),
  params: idParams,
  async handler(input) {
    const { context, query, response } = input;
    const schedule = await ownSchedule(input);
    const runs = await listRuns(context.sql, schedule.id, {
      before: query.cursor === undefined ? null : new Date(query.cursor),
      limit: query.limit + 1,
    });
    const page = runs.slice(0, query.limit);
    response.json({
      data: page.map(viewRun),
      next_cursor: runs.length > query.limit ? (page.at(-1)?.slot.toISOString() ?? null) : null,
    });
  },
});
