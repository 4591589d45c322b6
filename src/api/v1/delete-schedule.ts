import { removeSchedule } from '../../jobs/schedule/schedules.ts';
import { defineRoute, idParams, none } from '../define-route.ts';
import { scheduleId } from '../schedule-options.ts';
import { ownerOf } from './own-batch.ts';

/** Deletes a schedule and its history. Answers 204; its exports stay, also one that still runs. */
export const deleteScheduleRoute = defineRoute({
  method: 'delete',
  path: '/v1/schedules/:id',
  summary: 'Delete a schedule and its history',
  scope: 'exports',
  query: none,
  params: idParams,
  async handler({ context, key, params, response }) {
    await removeSchedule(context, ownerOf(key), scheduleId(params.id));
    response.status(204).end();
  },
});
