import { previewBatch } from '../../jobs/list/preview-list.ts';
import { defineRoute, idParams, none } from '../define-route.ts';
import { ownBatch } from './own-batch.ts';

/** The first rows of a list as they were read: cells, and the identifiers found in them. Free. */
export const getBatchPreviewRoute = defineRoute({
  method: 'get',
  path: '/v1/batches/:id/preview',
  summary: 'The first rows of a list as they were read',
  scope: 'batches',
  query: none,
  params: idParams,
  async handler({ context, key, params, response }) {
    const batch = await ownBatch(context, key, params.id);
    response.json(await previewBatch(context.store, batch));
  },
});
