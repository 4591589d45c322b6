import { viewSchedule } from '../../jobs/schedule/schedule-view.ts';
import { changeSchedule } from '../../jobs/schedule/schedules.ts';
import { defineRoute, idParams, none, parseParameters } from '../define-route.ts';
import { readJson } from '../read-json.ts';
import { scheduleChange, scheduleId, toScheduleRequest } from '../schedule-options.ts';
import { ownerOf } from './own-batch.ts';

/** Changes a schedule, enables or disables it. From then on it runs under the key of this call. */
export const patchScheduleRoute = defineRoute({
  method: 'patch',
  path: '/v1/schedules/:id',
  summary: 'Change, enable or disable a schedule',
  scope: 'exports',
  query: none,
  params: idParams,
  body: scheduleChange,
  async handler({ context, key, params, request, response }) {
    const change = toScheduleRequest(parseParameters(scheduleChange, await readJson(request)));
    const owner = { ...ownerOf(key), keyId: key.id };
    const after = await changeSchedule(context, owner, scheduleId(params.id), change);
    response.json(viewSchedule(after));
  },
});
