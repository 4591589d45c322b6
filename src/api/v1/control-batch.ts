import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { type BatchAction, controlBatch } from '../../jobs/batch/control/control-batch.ts';
import { defineRoute, idParams, none, type Route } from '../define-route.ts';
import { ownBatch, ownerOf } from './own-batch.ts';

const summaries: Record<BatchAction, string> = {
  start: 'Start a held batch',
  pause: 'Pause a batch',
  resume: 'Resume a paused batch',
  cancel: 'Cancel a batch: after the answer nothing of it is charged',
  quote: 'Ask for the exact price of a held batch',
};

/** The actions on a batch, one route each; each answers the batch after it. */
export const controlBatchRoutes: Route[] = (Object.keys(summaries) as BatchAction[]).map((action) =>
  defineRoute({
    method: 'post',
    path: `/v1/batches/:id/${action}`,
    summary: summaries[action],
    scope: 'batches',
    query: none,
    params: idParams,
    async handler({ context, key, params, response }) {
      const batch = await ownBatch(context, key, params.id);
      const after = await controlBatch(context, ownerOf(key), batch, action);
      response.status(202).json(viewBatch(after, new Date()));
    },
  }),
);
