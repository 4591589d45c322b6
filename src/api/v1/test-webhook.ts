import { testWebhook } from '../../jobs/webhook/webhooks.ts';
import { answerDelivery } from '../answer-delivery.ts';
import { defineRoute, idParams, none } from '../define-route.ts';
import { webhookId } from '../webhook-options.ts';
import { ownerOf } from './own-batch.ts';

/** Sends a test event, once. */
export const testWebhookRoute = defineRoute({
  method: 'post',
  path: '/v1/webhooks/:id/test',
  summary: 'Send the event `webhook.test`, once',
  scope: 'account',
  query: none,
  params: idParams,
  handler: (input) =>
    answerDelivery(input, (alongside) =>
      testWebhook(input.context.sql, ownerOf(input.key), webhookId(input.params.id), alongside),
    ),
});
