import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { defineRoute, idParams, none } from '../define-route.ts';
import { ownBatch } from './own-batch.ts';

/** One batch: its state, counts, credits and how it was read. */
export const getBatchRoute = defineRoute({
  method: 'get',
  path: '/v1/batches/:id',
  summary: 'State, counts and credits of a batch',
  scope: 'batches',
  query: none,
  params: idParams,
  async handler({ context, key, params, response }) {
    const batch = await ownBatch(context, key, params.id);
    response.json(viewBatch(batch, new Date()));
  },
});
