import { z } from 'zod';
import { viewDelivery, webhookDeliverySchema } from '../../jobs/webhook/webhook-view.ts';
import { replayWebhookDelivery } from '../../jobs/webhook/webhooks.ts';
import { defineRoute } from '../http/define-route.ts';
import { parseId } from '../http/parse-parameters.ts';
import { ownerOf } from '../owner-of.ts';

/** Sends an event again under the same webhook-id, with all its retries. */
export const replayWebhookDeliveryRoute = defineRoute({
  method: 'post',
  path: '/v1/webhooks/:id/deliveries/:delivery_id/replay',
  summary: 'Send an event again',
  scope: 'account',
  params: z.strictObject({ id: z.string(), delivery_id: z.string() }),
  idempotent: true,
  responses: { 202: { description: 'The delivery.', schema: webhookDeliverySchema } },
  handler: ({ key, params, commit }) =>
    commit(async (tx) => {
      const which = {
        id: parseId('Webhook', params.id),
        deliveryId: parseId('Delivery', params.delivery_id),
      };
      const delivery = await replayWebhookDelivery(tx, ownerOf(key), which);
      return { status: 202, body: viewDelivery(delivery) };
    }),
});
