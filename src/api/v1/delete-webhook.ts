import { removeWebhook } from '../../jobs/webhook/webhooks.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { parseId } from '../http/parse-parameters.ts';
import { ownerOf } from '../owner-of.ts';

/** Deletes a webhook and its deliveries. Responds 204. */
export const deleteWebhookRoute = defineRoute({
  method: 'delete',
  path: '/v1/webhooks/:id',
  summary: 'Delete a webhook and its deliveries',
  scope: 'account',
  params: idParams,
  responses: { 204: { description: 'The webhook is deleted.' } },
  async handler({ context, key, params }) {
    await removeWebhook(context.sql, ownerOf(key), parseId('Webhook', params.id));
    return { status: 204 };
  },
});
