import { z } from 'zod';
import { overlapSecondsDefault, overlapSecondsMax } from '../../core/keys/account-keys.ts';
import { viewWebhook } from '../../jobs/webhook/webhook-view.ts';
import { rotateWebhookSecret } from '../../jobs/webhook/webhooks.ts';
import { defineRoute, idParams, none } from '../define-route.ts';
import { answerOnce } from '../shown-once-answer.ts';
import { webhookId } from '../webhook-options.ts';
import { ownerOf } from './own-batch.ts';

const body = z.strictObject({
  overlap_seconds: z.number().int().min(0).max(overlapSecondsMax).default(overlapSecondsDefault),
});

/** Gives a webhook a new secret; the old one signs along for the overlap. */
export const rotateWebhookRoute = defineRoute({
  method: 'post',
  path: '/v1/webhooks/:id/rotate',
  summary: 'Replace the signing secret of a webhook; the new one is shown once',
  scope: 'account',
  query: none,
  params: idParams,
  body,
  handler: (input) =>
    answerOnce(input, { name: 'secret', schema: body }, async (options, alongside) => {
      const rotation = {
        id: webhookId(input.params.id),
        overlapSeconds: options.overlap_seconds,
      };
      const owner = ownerOf(input.key);
      const rotated = await rotateWebhookSecret(input.context, owner, rotation, (tx, webhook) =>
        alongside(tx, viewWebhook(webhook)),
      );
      return rotated.secret;
    }),
});
