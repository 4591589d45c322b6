import { checkMobileField } from '../../core/enrich/mobile-in-records.ts';
import { graphOf } from '../../core/graph/graph-of.ts';
import { personSearch } from '../../core/operations.ts';
import { parseFilter } from '../../core/search/parse.ts';
import { findUnknownValues } from '../../core/search/unknown-values.ts';
import { savedScheduleSchema, viewSchedule } from '../../jobs/schedule/schedule-view.ts';
import { changeSchedule } from '../../jobs/schedule/schedules.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { parseId } from '../http/parse-parameters.ts';
import { noteRequest } from '../http/request-log.ts';
import { ownerWithKeyOf } from '../owner-of.ts';
import { scheduleChange, toScheduleRequest } from '../schedule-options.ts';

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
    checkMobileField(context.config, personSearch.name, change.fields ?? null);
    const after = await changeSchedule(context, owner, parseId('Schedule', params.id), change);
    noteRequest(response, { enabled: after.enabled });
    const graph = graphOf(context, owner.live);
    const unknownValues = await findUnknownValues(graph, parseFilter(after.filter));
    return { status: 200, body: { ...viewSchedule(after), unknown_values: unknownValues } };
  },
});
