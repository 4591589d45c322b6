import { viewWebhook } from '../../jobs/webhook/webhook-view.ts';
import { requireOwnWebhook } from '../../jobs/webhook/webhooks.ts';
import { defineRoute, idParams, none } from '../define-route.ts';
import { webhookId } from '../webhook-options.ts';
import { ownerOf } from './own-batch.ts';

/** One webhook. */
export const getWebhookRoute = defineRoute({
  method: 'get',
  path: '/v1/webhooks/:id',
  summary: 'A webhook, and whether it fails',
  scope: 'account',
  query: none,
  params: idParams,
  async handler({ context, key, params, response }) {
    const webhook = await requireOwnWebhook(context.sql, ownerOf(key), webhookId(params.id));
    response.json(viewWebhook(webhook));
  },
});
