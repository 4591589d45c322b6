import { z } from 'zod';
import { viewWebhook } from '../../jobs/webhook/webhook-view.ts';
import { listWebhooks } from '../../jobs/webhook/webhooks.sql.ts';
import { defineRoute, none } from '../define-route.ts';
import { ownerOf } from './own-batch.ts';

/** The account's webhooks, newest first. */
export const listWebhooksRoute = defineRoute({
  method: 'get',
  path: '/v1/webhooks',
  summary: 'Webhooks of the account, newest first',
  scope: 'account',
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(100).default(20),
    cursor: z.uuid().optional(),
  }),
  params: none,
  async handler({ context, key, query, response }) {
    const webhooks = await listWebhooks(context.sql, ownerOf(key), {
      before: query.cursor ?? null,
      limit: query.limit + 1,
    });
    const page = webhooks.slice(0, query.limit);
    response.json({
      data: page.map(viewWebhook),
      next_cursor: webhooks.length > query.limit ? (page.at(-1)?.id ?? null) : null,
    });
  },
});
