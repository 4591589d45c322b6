import { removeWebhook } from '../../jobs/webhook/webhooks.ts';
import { defineRoute, idParams, none } from '../define-route.ts';
import { webhookId } from '../webhook-options.ts';
import { ownerOf } from './own-batch.ts';

/** Deletes a webhook and what is known of its deliveries. Answers 204. */
export const deleteWebhookRoute = defineRoute({
  method: 'delete',
  path: '/v1/webhooks/:id',
  summary: 'Delete a webhook and its deliveries',
  scope: 'account',
  query: none,
  params: idParams,
  async handler({ context, key, params, response }) {
    await removeWebhook(context.sql, ownerOf(key), webhookId(params.id));
    response.status(204).end();
  },
});
