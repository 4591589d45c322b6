import { z } from 'zod';
import { replayWebhookDelivery } from '../../jobs/webhook/webhooks.ts';
import { answerDelivery } from '../answer-delivery.ts';
import { defineRoute, none } from '../define-route.ts';
import { deliveryId, webhookId } from '../webhook-options.ts';
import { ownerOf } from './own-batch.ts';

/** Sends an event again, under the same webhook-id, with the schedule from its beginning. */
export const replayWebhookDeliveryRoute = defineRoute({
  method: 'post',
  path: '/v1/webhooks/:id/deliveries/:delivery_id/replay',
  summary: 'Send an event again',
  scope: 'account',
  query: none,
  params: z.strictObject({ id: z.string(), delivery_id: z.string() }),
  handler: (input) =>
    answerDelivery(input, (alongside) => {
      const { id, delivery_id } = input.params;
      const which = { id: webhookId(id), deliveryId: deliveryId(delivery_id) };
      return replayWebhookDelivery(input.context.sql, ownerOf(input.key), which, alongside);
    }),
});
