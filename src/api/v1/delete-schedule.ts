import { removeSchedule } from '../../jobs/schedule/schedules.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { parseId } from '../http/parse-parameters.ts';
import { ownerOf } from '../owner-of.ts';

/** Deletes a schedule and its history. Responds 204. Its exports stay, including one that has found its people. */
export const deleteScheduleRoute = defineRoute({
  method: 'delete',
  path: '/v1/schedules/:id',
  summary: 'Delete a schedule and its history',
  scope: 'exports',
  params: idParams,
  responses: { 204: { description: 'The schedule is deleted.' } },
  async handler({ context, key, params }) {
    await removeSchedule(context, ownerOf(key), parseId('Schedule', params.id));
    return { status: 204 };
  },
});
