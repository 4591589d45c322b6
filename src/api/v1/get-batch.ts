import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { forEachResource } from '../batch-resource.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { requireOwnBatch } from '../own-objects.ts';

/** Returns the state, counts and credits of one list or export. */
export const getBatchRoutes = forEachResource((resource) => [
  defineRoute({
    method: 'get',
    path: `${resource.path}/:id`,
    summary: `State, counts and credits of ${resource.article}`,
    scope: resource.scope,
    params: idParams,
    responses: { 200: { description: `The ${resource.noun}.`, schema: resource.schema } },
    async handler({ context, key, params }) {
      const batch = await requireOwnBatch(context, key, resource.kind, params.id);
      return { status: 200, body: viewBatch(batch) };
    },
  }),
]);
