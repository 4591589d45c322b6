import { z } from 'zod';
import { viewWebhook, webhookSchema } from '../../jobs/webhook/webhook-view.ts';
import { listWebhooks } from '../../jobs/webhook/webhooks.sql.ts';
import { definePage } from '../http/define-page.ts';
import { ownerOf } from '../owner-of.ts';

/** Lists the account's webhooks, newest first. */
export const listWebhooksRoute = definePage({
  path: '/v1/webhooks',
  summary: 'Webhooks of the account, newest first',
  description: 'A page of webhooks.',
  scope: 'account',
  item: webhookSchema,
  cursor: z.uuid(),
  read: ({ context, key }, page) => listWebhooks(context.sql, ownerOf(key), page),
  cursorOf: ({ id }) => id,
  view: viewWebhook,
});
