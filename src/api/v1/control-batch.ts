import { countQuote } from '../../core/limits/limits.ts';
import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { type BatchAction, controlBatch, wakeAfter } from '../../jobs/batch/control-batch.ts';
import { type BatchResource, forEachResource } from '../batch-resource.ts';
import { defineRoute, idParams, type Route } from '../http/define-route.ts';
import { requireOwnBatch } from '../own-objects.ts';
import { ownerWithKeyOf } from '../owner-of.ts';

/** The actions on a batch: their summaries, which are only for lists, and which are metered. */
const actions: Record<BatchAction, { summary: string; listsOnly?: true; metered?: true }> = {
  start: { summary: 'Start a held batch' },
  pause: { summary: 'Pause a batch' },
  resume: { summary: 'Resume a paused batch' },
  cancel: { summary: 'Cancel a batch: nothing is charged after the response' },
  quote: { summary: 'Compute the price of a held batch', listsOnly: true, metered: true },
};

/** The actions on lists and exports, one route each. Each responds with the batch after the action. */
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
    metered: actions[action].metered ?? false,
    params: idParams,
    idempotent: true,
    responses: {
      202: { description: `The ${resource.noun} after the action.`, schema: resource.schema },
    },
    ...(resource.kind === 'list' && ['start', 'quote'].includes(action) ? { errors: [422] } : {}),
    async handler({ context, key, params, commit }) {
      const batch = await requireOwnBatch(context, key, resource.kind, params.id);
      if (action === 'quote' && batch.state === 'ready') {
        await countQuote(context.limiter, batch.id);
      }
      return commit(async (tx) => {
        const after = await controlBatch(tx, ownerWithKeyOf(key), batch, action);
        const wake = () => wakeAfter(context, after, action);
        return { status: 202, body: viewBatch(after), wake };
      });
    },
  });
}
