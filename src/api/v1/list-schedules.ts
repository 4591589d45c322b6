import { z } from 'zod';
import { scheduleSchema, viewSchedule } from '../../jobs/schedule/schedule-view.ts';
import { listSchedules } from '../../jobs/schedule/schedules.sql.ts';
import { definePage } from '../http/define-page.ts';
import { ownerOf } from '../owner-of.ts';

/** Lists the account's schedules, newest first. */
export const listSchedulesRoute = definePage({
  path: '/v1/schedules',
  summary: 'Schedules of the account, newest first',
  description: 'A page of schedules.',
  scope: 'exports',
  item: scheduleSchema,
  inTurn: true,
  cursor: z.uuid(),
  read: ({ context, key }, page) => listSchedules(context.sql, ownerOf(key), page),
  cursorOf: ({ id }) => id,
  view: viewSchedule,
});
