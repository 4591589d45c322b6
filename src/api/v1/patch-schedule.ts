import { checkExport } from '../../jobs/export/create-export.ts';
import { savedScheduleSchema, viewSchedule } from '../../jobs/schedule/schedule-view.ts';
import { changeSchedule, requireOwnSchedule } from '../../jobs/schedule/schedules.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { parseId } from '../http/parse-parameters.ts';
import { noteRequest } from '../http/request-log.ts';
import { ownerWithKeyOf } from '../owner-of.ts';
import { scheduleChange, toScheduleRequest } from '../schedule-options.ts';
import { unknownValuesInTurn } from '../unknown-values-in-turn.ts';

/** Changes, enables or disables a schedule. From then on it runs under the key of this call. */
export const patchScheduleRoute = defineRoute({
  method: 'patch',
  path: '/v1/schedules/:id',
  summary: 'Change, enable or disable a schedule',
  scope: 'exports',
  params: idParams,
  body: scheduleChange,
  responses: {
    200: { description: 'The schedule after the change.', schema: savedScheduleSchema },
  },
  async handler({ context, key, params, body, response }) {
    const owner = ownerWithKeyOf(key);
    const change = toScheduleRequest(body);
    const id = parseId('Schedule', params.id);
    // Before the change: a caller who is told to come again has changed nothing.
    const changed = { ...(await requireOwnSchedule(context.sql, owner, id)), ...change };
    checkExport(changed, context.config);
    const unknownValues = await unknownValuesInTurn({ context, key, response }, changed.filter);
    const after = await changeSchedule(context, owner, id, change);
    noteRequest(response, { enabled: after.enabled });
    return { status: 200, body: { ...viewSchedule(after), unknown_values: unknownValues } };
  },
});
