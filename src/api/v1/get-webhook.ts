import { viewWebhook, webhookSchema } from '../../jobs/webhook/webhook-view.ts';
import { requireOwnWebhook } from '../../jobs/webhook/webhooks.ts';
import { defineRoute, idParams } from '../define-route.ts';
import { ownerOf } from '../owner-of.ts';
import { parseId } from '../parse-parameters.ts';

/** Returns one webhook. */
export const getWebhookRoute = defineRoute({
  method: 'get',
  path: '/v1/webhooks/:id',
  summary: 'A webhook and the state of its deliveries',
  scope: 'account',
  params: idParams,
  responses: { 200: { description: 'The webhook.', schema: webhookSchema } },
  async handler({ context, key, params }) {
    const webhook = await requireOwnWebhook(
      context.sql,
      ownerOf(key),
      parseId('Webhook', params.id),
    );
    return { status: 200, body: viewWebhook(webhook) };
  },
});
