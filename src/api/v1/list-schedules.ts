import { z } from 'zod';
import { viewSchedule } from '../../jobs/schedule/schedule-view.ts';
import { listSchedules } from '../../jobs/schedule/schedules.sql.ts';
import { defineRoute, none } from '../define-route.ts';
import { ownerOf } from './own-batch.ts';

/** The account's schedules, newest first. */
export const listSchedulesRoute = defineRoute({
  method: 'get',
  path: '/v1/schedules',
  summary: 'Schedules of the account, newest first',
  scope: 'exports',
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(100).default(20),
    cursor: z.uuid().optional(),
  }),
  params: none,
  async handler({ context, key, query, response }) {
    const schedules = await listSchedules(context.sql, ownerOf(key), {
      before: query.cursor ?? null,
      limit: query.limit + 1,
    });
    const page = schedules.slice(0, query.limit);
    response.json({
      data: page.map(viewSchedule),
      next_cursor: schedules.length > query.limit ? (page.at(-1)?.id ?? null) : null,
    });
  },
});
