import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { forEachResource } from '../batch-resource.ts';
import { defineRoute, idParams, none } from '../define-route.ts';
import { ownBatchOf } from './own-batch.ts';

/** One list or export: its state, counts and credits. */
export const getBatchRoutes = forEachResource((resource) => [
  defineRoute({
    method: 'get',
    path: `${resource.path}/:id`,
    summary: `State, counts and credits of ${resource.article}`,
    scope: resource.scope,
    query: none,
    params: idParams,
    async handler({ context, key, params, response }) {
      const batch = await ownBatchOf(context, key, resource, params.id);
      response.json(viewBatch(batch, new Date()));
    },
  }),
]);
