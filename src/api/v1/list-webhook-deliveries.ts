import { z } from 'zod';
import { viewDelivery } from '../../jobs/webhook/webhook-view.ts';
import { deliveryStates, listDeliveries } from '../../jobs/webhook/webhooks.sql.ts';
import { requireOwnWebhook } from '../../jobs/webhook/webhooks.ts';
import { defineRoute, idParams } from '../define-route.ts';
import { webhookId } from '../webhook-options.ts';
import { ownerOf } from './own-batch.ts';

/** What became of each event that a webhook was sent, newest first. */
export const listWebhookDeliveriesRoute = defineRoute({
  method: 'get',
  path: '/v1/webhooks/:id/deliveries',
  summary: 'Deliveries of a webhook, newest first, with their payloads and attempts',
  scope: 'account',
  query: z.strictObject({
    state: z.enum(deliveryStates).optional(),
    limit: z.coerce.number().int().min(1).max(100).default(20),
    cursor: z.uuid().optional(),
  }),
  params: idParams,
  async handler({ context, key, params, query, response }) {
    const webhook = await requireOwnWebhook(context.sql, ownerOf(key), webhookId(params.id));
    const deliveries = await listDeliveries(context.sql, webhook.id, {
      state: query.state ?? null,
      before: query.cursor ?? null,
      limit: query.limit + 1,
    });
    const page = deliveries.slice(0, query.limit);
    response.json({
      data: page.map(viewDelivery),
      next_cursor: deliveries.length > query.limit ? (page.at(-1)?.id ?? null) : null,
    });
  },
});
