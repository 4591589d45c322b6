import { deleteBatchFiles } from '../../jobs/batch/control/control-batch.ts';
import { defineRoute, idParams, none } from '../define-route.ts';
import { ownBatch, ownerOf } from './own-batch.ts';

/**
 * Deletes the upload and the result of a batch at once, and cancels it when it has not ended. Answers 204;
 * its counts and charges can still be read.
 */
export const deleteBatchRoute = defineRoute({
  method: 'delete',
  path: '/v1/batches/:id',
  summary: 'Delete the files of a batch, cancelling it if it runs',
  scope: 'batches',
  query: none,
  params: idParams,
  async handler({ context, key, params, response }) {
    const batch = await ownBatch(context, key, params.id);
    await deleteBatchFiles(context, ownerOf(key), batch);
    response.status(204).end();
  },
});
