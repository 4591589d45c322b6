import { requestHash } from '../../core/idempotency/idempotency.ts';
import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { type BatchAction, controlBatch } from '../../jobs/batch/control/control-batch.ts';
import { defineRoute, idParams, none, type Route } from '../define-route.ts';
import { claimRequest, replay } from '../idempotent-request.ts';
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
    async handler({ context, key, params, request, response }) {
      const batch = await ownBatch(context, key, params.id);
      const idempotency = await claimRequest(context, key, request);
      try {
        const requestSha256 = requestHash({ id: batch.id, action }, null);
        if (idempotency.answered !== null) {
          replay(response, idempotency.answered, requestSha256);
          return;
        }
        const owner = ownerOf(key);
        const after = await controlBatch(context, owner, batch, action, (tx, now) =>
          idempotency.answer(tx, { requestSha256, status: 202, body: viewBatch(now, new Date()) }),
        );
        response.status(202).json(viewBatch(after, new Date()));
      } finally {
        await idempotency.release();
      }
    },
  }),
);
