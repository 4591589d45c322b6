import { viewWebhook } from '../../jobs/webhook/webhook-view.ts';
import { changeWebhook } from '../../jobs/webhook/webhooks.ts';
import { defineRoute, idParams, none, parseParameters } from '../define-route.ts';
import { readJson } from '../read-json.ts';
import { toWebhookRequest, webhookChange, webhookId } from '../webhook-options.ts';
import { ownerOf } from './own-batch.ts';

/** Changes a webhook, enables or disables it. What waits for it is sent when it is enabled again. */
export const patchWebhookRoute = defineRoute({
  method: 'patch',
  path: '/v1/webhooks/:id',
  summary: 'Change, enable or disable a webhook',
  scope: 'account',
  query: none,
  params: idParams,
  body: webhookChange,
  async handler({ context, key, params, request, response }) {
    const change = toWebhookRequest(parseParameters(webhookChange, await readJson(request)));
    const after = await changeWebhook(context, ownerOf(key), webhookId(params.id), change);
    response.json(viewWebhook(after));
  },
});
