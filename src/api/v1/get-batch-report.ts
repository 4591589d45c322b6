import { reportSchema, viewReport } from '../../jobs/batch/batch-view.ts';
import { addReports } from '../../jobs/batch/report.ts';
import { listPartReports } from '../../jobs/result/parts.sql.ts';
import { forEachResource } from '../batch-resource.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { requireOwnBatch } from '../own-objects.ts';

/** Returns how the list was parsed, its repaired and unusable rows, and how often each field was filled. */
export const getBatchReportRoutes = forEachResource((resource) => [
  defineRoute({
    method: 'get',
    path: `${resource.path}/:id/report`,
    summary:
      resource.kind === 'list'
        ? 'How a list was read and how well it was filled'
        : 'How often each field of an export is filled',
    scope: resource.scope,
    params: idParams,
    responses: { 200: { description: 'Counts and fill rates.', schema: reportSchema } },
    async handler({ context, key, params }) {
      const batch = await requireOwnBatch(context, key, resource.kind, params.id);
      const report = batch.report ?? addReports(await listPartReports(context.sql, batch.id));
      return { status: 200, body: viewReport(batch, report) };
    },
  }),
]);
