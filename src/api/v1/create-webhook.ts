import { viewWebhook } from '../../jobs/webhook/webhook-view.ts';
import { createWebhook } from '../../jobs/webhook/webhooks.ts';
import { defineRoute, none } from '../define-route.ts';
import { answerOnce } from '../shown-once-answer.ts';
import { toWebhookRequest, webhookOptions } from '../webhook-options.ts';
import { ownerOf } from './own-batch.ts';

/** Makes a webhook; the secret of its signatures is in this answer and nowhere else. */
export const createWebhookRoute = defineRoute({
  method: 'post',
  path: '/v1/webhooks',
  summary: 'Have events sent to an address; the signing secret is shown once',
  scope: 'account',
  query: none,
  params: none,
  body: webhookOptions,
  handler: (input) =>
    answerOnce(input, { name: 'secret', schema: webhookOptions }, async (options, alongside) => {
      const owner = ownerOf(input.key);
      const request = toWebhookRequest(options);
      const made = await createWebhook(input.context, owner, request, (tx, webhook) =>
        alongside(tx, viewWebhook(webhook)),
      );
      input.response.location(`/v1/webhooks/${made.webhook.id}`);
      return made.secret;
    }),
});
