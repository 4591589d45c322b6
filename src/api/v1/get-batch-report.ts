import { viewReport } from '../../jobs/batch/batch-view.ts';
import { listPartReports } from '../../jobs/batch/queries.ts';
import { addReports } from '../../jobs/batch/report.ts';
import { defineRoute, idParams, none } from '../define-route.ts';
import { ownBatch } from './own-batch.ts';

/** How the list was read, what was repaired or unusable, and how often each field was filled. */
export const getBatchReportRoute = defineRoute({
  method: 'get',
  path: '/v1/batches/:id/report',
  summary: 'How a list was read and how well it was filled',
  scope: 'batches',
  query: none,
  params: idParams,
  async handler({ context, key, params, response }) {
    const batch = await ownBatch(context, key, params.id);
    const report = batch.report ?? addReports(await listPartReports(context.sql, batch.id));
    response.json(viewReport(batch, report));
  },
});
