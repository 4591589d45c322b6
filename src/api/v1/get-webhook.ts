import { viewWebhook, webhookSchema } from '../../jobs/webhook/webhook-view.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { webhookOfPath } from '../own-objects.ts';

export const getWebhookRoute = defineRoute({
  method: 'get',
  path: '/v1/webhooks/:id',
  summary: 'A webhook and the state of its deliveries',
  scope: 'account',
  params: idParams,
  responses: { 200: { description: 'The webhook.', schema: webhookSchema } },
  handler: async (input) => ({ status: 200, body: viewWebhook(await webhookOfPath(input)) }),
});
