import { listPreviewSchema, previewList } from '../../jobs/list/preview-list.ts';
import { clientGone } from '../http/client-gone.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { requireOwnBatch } from '../own-objects.ts';

/** Returns the first rows of a list: their cells, and the identifiers found in them. Free. */
export const getBatchPreviewRoute = defineRoute({
  method: 'get',
  path: '/v1/batches/:id/preview',
  summary: 'The first rows of a list and their identifiers',
  scope: 'batches',
  params: idParams,
  responses: { 200: { description: 'The first rows.', schema: listPreviewSchema } },
  errors: [410, 500],
  async handler({ context, key, params, response }) {
    const batch = await requireOwnBatch(context, key, 'list', params.id);
    const reading = { ...context, signal: clientGone(response) };
    return { status: 200, body: await previewList(reading, batch) };
  },
});
