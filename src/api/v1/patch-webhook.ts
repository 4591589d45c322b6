import { viewWebhook, webhookSchema } from '../../jobs/webhook/webhook-view.ts';
import { changeWebhook } from '../../jobs/webhook/webhooks.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { parseId } from '../http/parse-parameters.ts';
import { ownerOf } from '../owner-of.ts';
import { toWebhookRequest, webhookChange } from '../webhook-options.ts';

/** Changes, enables or disables a webhook. Events wait while it is disabled and are sent afterwards. */
export const patchWebhookRoute = defineRoute({
  method: 'patch',
  path: '/v1/webhooks/:id',
  summary: 'Change, enable or disable a webhook',
  scope: 'account',
  params: idParams,
  body: webhookChange,
  responses: { 200: { description: 'The webhook after the change.', schema: webhookSchema } },
  async handler({ context, key, params, body }) {
    const change = toWebhookRequest(body);
    const after = await changeWebhook(context, ownerOf(key), parseId('Webhook', params.id), change);
    return { status: 200, body: viewWebhook(after) };
  },
});
