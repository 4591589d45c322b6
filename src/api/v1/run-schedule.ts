import { wakeExport } from '../../jobs/export/create-export.ts';
import { runScheduleNow } from '../../jobs/schedule/run-now.ts';
import { scheduleRunSchema, viewRun } from '../../jobs/schedule/schedule-view.ts';
import { exportOptions } from '../export-options.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { parseId } from '../http/parse-parameters.ts';
import { noteRequest } from '../http/request-log.ts';
import { ownerWithKeyOf } from '../owner-of.ts';

/** Runs a schedule now, under the key of the call. Its slots stay as they are. */
export const runScheduleRoute = defineRoute({
  method: 'post',
  path: '/v1/schedules/:id/run',
  summary: 'Run a schedule now, in addition to its slots',
  scope: 'exports',
  // Its counts are free, like those of an export.
  metered: true,
  params: idParams,
  body: exportOptions.pick({ max_credits: true }),
  idempotent: true,
  responses: { 202: { description: 'The run.', schema: scheduleRunSchema } },
  handler: ({ context, key, params, body, response, commit }) =>
    commit(async (tx) => {
      const owner = ownerWithKeyOf(key);
      const id = parseId('Schedule', params.id);
      const bounded = { id, maxCredits: body.max_credits };
      const run = await runScheduleNow(tx, context.config, owner, bounded);
      noteRequest(response, { batch: run.batchId });
      return { status: 202, body: viewRun(run), wake: () => wakeExport(context, run.batchId) };
    }),
});
