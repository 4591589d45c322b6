import { newWebhookSchema, viewWebhook } from '../../jobs/webhook/webhook-view.ts';
import { checkUrl, createWebhook } from '../../jobs/webhook/webhooks.ts';
import { defineRoute } from '../http/define-route.ts';
import { ownerOf } from '../owner-of.ts';
import { toWebhookRequest, webhookOptions } from '../webhook-options.ts';

/** Creates a webhook; only this response contains its signing secret. */
export const createWebhookRoute = defineRoute({
  method: 'post',
  path: '/v1/webhooks',
  summary: 'Create a webhook; its signing secret is shown once',
  scope: 'account',
  body: webhookOptions,
  idempotent: true,
  responses: {
    201: { description: 'The webhook with its secret, shown once.', schema: newWebhookSchema },
  },
  locates: true,
  async handler({ context, key, body, commit }) {
    const { config } = context;
    const url = await checkUrl(body.url, config);
    return commit(async (tx) => {
      const request = { ...toWebhookRequest(body), url };
      const { webhook, secret } = await createWebhook(tx, config, ownerOf(key), request);
      const shown = { secret: null, ...viewWebhook(webhook) };
      return { status: 201, body: shown, shownOnce: { secret } };
    });
  },
});
