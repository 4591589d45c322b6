import { newWebhookSchema, viewWebhook } from '../../jobs/webhook/webhook-view.ts';
import { rotateWebhookSecret } from '../../jobs/webhook/webhooks.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { parseId } from '../http/parse-parameters.ts';
import { overlapBody } from '../overlap.ts';
import { ownerOf } from '../owner-of.ts';

/** Replaces the signing secret of a webhook; during the overlap both secrets sign. */
export const rotateWebhookRoute = defineRoute({
  method: 'post',
  path: '/v1/webhooks/:id/rotate',
  summary: 'Replace the signing secret of a webhook; the new one is shown once',
  scope: 'account',
  params: idParams,
  body: overlapBody,
  idempotent: true,
  responses: { 201: { description: 'The new secret, shown once.', schema: newWebhookSchema } },
  handler: ({ context, key, params, body, commit }) =>
    commit(async (tx) => {
      const rotation = { id: parseId('Webhook', params.id), overlapSeconds: body.overlap_seconds };
      const owner = ownerOf(key);
      const { webhook, secret } = await rotateWebhookSecret(tx, context.config, owner, rotation);
      const shown = { secret: null, ...viewWebhook(webhook) };
      return { status: 201, body: shown, shownOnce: { secret } };
    }),
});
