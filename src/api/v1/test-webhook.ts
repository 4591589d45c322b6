import { viewDelivery, webhookDeliverySchema } from '../../jobs/webhook/webhook-view.ts';
import { testWebhook } from '../../jobs/webhook/webhooks.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { parseId } from '../http/parse-parameters.ts';
import { ownerOf } from '../owner-of.ts';

/** Sends a test event once, without retries. */
export const testWebhookRoute = defineRoute({
  method: 'post',
  path: '/v1/webhooks/:id/test',
  summary: 'Send the event `webhook.test`, once',
  scope: 'account',
  params: idParams,
  idempotent: true,
  responses: { 202: { description: 'The delivery.', schema: webhookDeliverySchema } },
  handler: ({ key, params, commit }) =>
    commit(async (tx) => {
      const delivery = await testWebhook(tx, ownerOf(key), parseId('Webhook', params.id));
      return { status: 202, body: viewDelivery(delivery) };
    }),
});
