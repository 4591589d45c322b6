import { z } from 'zod';
import { scheduleRunSchema, viewRun } from '../../jobs/schedule/schedule-view.ts';
import { listRuns } from '../../jobs/schedule/schedules.sql.ts';
import { definePage } from '../http/define-page.ts';
import { idParams } from '../http/define-route.ts';
import { scheduleOfPath } from '../own-objects.ts';

/** Lists the outcome of each slot of a schedule, latest first. The cursor is the slot of the last one. */
export const listScheduleRunsRoute = definePage({
  path: '/v1/schedules/:id/runs',
  summary: 'Runs of a schedule, latest first, with rows and credits',
  description: 'A page of runs.',
  scope: 'exports',
  params: idParams,
  item: scheduleRunSchema,
  // Postgres has no year 0.
  cursor: z.iso
    .datetime()
    .refine((text) => !text.startsWith('0000'), 'is not a cursor of this call'),
  async read(input, { before, limit }) {
    const { id } = await scheduleOfPath(input);
    const slot = before === null ? null : new Date(before);
    return listRuns(input.context.sql, id, { before: slot, limit });
  },
  cursorOf: ({ slot }) => slot.toISOString(),
  view: viewRun,
});
