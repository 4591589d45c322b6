import { deleteBatchFiles } from '../../jobs/batch/control-batch.ts';
import { forEachResource } from '../batch-resource.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { requireOwnBatch } from '../own-objects.ts';
import { ownerOf } from '../owner-of.ts';

/**
 * Deletes the upload and the results of a batch at once, and cancels it if it has not ended. Responds 204. Its counts
 * and charges are kept.
 */
export const deleteBatchRoutes = forEachResource((resource) => [
  defineRoute({
    method: 'delete',
    path: `${resource.path}/:id`,
    summary: `Delete the files of ${resource.article}, cancelling it if it runs`,
    scope: resource.scope,
    params: idParams,
    responses: { 204: { description: 'The files are deleted.' } },
    errors: [409],
    async handler({ context, key, params }) {
      const batch = await requireOwnBatch(context, key, resource.kind, params.id);
      await deleteBatchFiles(context, ownerOf(key), batch);
      return { status: 204 };
    },
  }),
]);
