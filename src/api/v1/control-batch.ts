import { requestHash } from '../../core/idempotency/idempotency.ts';
import { countQuote } from '../../core/limits/limits.ts';
import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { type BatchAction, controlBatch } from '../../jobs/batch/control-batch.ts';
import { type BatchResource, forEachResource } from '../batch-resource.ts';
import { defineRoute, idParams, none, type Route } from '../define-route.ts';
import { claimRequest, replay } from '../idempotent-request.ts';
import { ownBatchOf, ownerOf } from './own-batch.ts';

/** What each action does, what may be asked of lists alone, and what is metered as a request of the key. */
const actions: Record<BatchAction, { summary: string; listsOnly?: true; metered?: true }> = {
  start: { summary: 'Start what was held' },
  pause: { summary: 'Pause it' },
  resume: { summary: 'Resume what is paused' },
  cancel: { summary: 'Cancel it: after the answer nothing of it is charged' },
  quote: { summary: 'Ask for the price of a held batch', listsOnly: true, metered: true },
};

/** The actions on lists and exports, one route each; each answers the batch after it. */
export const controlBatchRoutes: Route[] = forEachResource((resource) =>
  (Object.keys(actions) as BatchAction[])
    .filter((action) => resource.kind === 'list' || !actions[action].listsOnly)
    .map((action) => controlRoute(resource, action)),
);

function controlRoute(resource: BatchResource, action: BatchAction): Route {
  return defineRoute({
    method: 'post',
    path: `${resource.path}/:id/${action}`,
    summary: actions[action].summary,
    scope: resource.scope,
    counted: actions[action].metered ?? false,
    query: none,
    params: idParams,
    async handler({ context, key, params, request, response }) {
      const batch = await ownBatchOf(context, key, resource, params.id);
      const idempotency = await claimRequest(context, key, request);
      try {
        const requestSha256 = requestHash({ id: batch.id, action }, null);
        if (idempotency.stored !== null) {
          replay(response, idempotency.stored, requestSha256);
          return;
        }
        if (action === 'quote' && batch.state === 'ready') {
          await countQuote(context.limiter, batch.id);
        }
        const owner = ownerOf(key);
        const after = await controlBatch(context, owner, batch, action, (tx, now) =>
          idempotency.respond(tx, { requestSha256, status: 202, body: viewBatch(now, new Date()) }),
        );
        response.status(202).json(viewBatch(after, new Date()));
      } finally {
        await idempotency.release();
      }
    },
  });
}
