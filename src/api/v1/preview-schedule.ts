import { z } from 'zod';
import { readClock } from '../../core/db/clock.ts';
import { nextRuns } from '../../jobs/schedule/next-run.ts';
import { defineRoute } from '../http/define-route.ts';
import { scheduleOptions } from '../schedule-options.ts';

const SHOWN_RUNS = 5;

/** Returns the next runs of a cron expression, before a schedule is created with it. */
export const previewScheduleRoute = defineRoute({
  method: 'get',
  path: '/v1/schedules/preview',
  summary: 'The next 5 runs of a cron expression in a time zone',
  scope: 'exports',
  query: z.strictObject(scheduleOptions.pick({ cron: true, time_zone: true }).shape),
  responses: {
    200: {
      description: 'The times.',
      schema: z.strictObject({ next_runs: z.array(z.iso.datetime()) }),
    },
  },
  async handler({ context, query }) {
    const now = await readClock(context.sql);
    const runs = nextRuns(query.cron, query.time_zone, now, SHOWN_RUNS);
    return { status: 200, body: { next_runs: runs.map((run) => run.toISOString()) } };
  },
});
