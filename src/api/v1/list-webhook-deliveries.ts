import { z } from 'zod';
import { viewDelivery, webhookDeliverySchema } from '../../jobs/webhook/webhook-view.ts';
import { deliveryStates, listDeliveries } from '../../jobs/webhook/webhooks.sql.ts';
import { requireOwnWebhook } from '../../jobs/webhook/webhooks.ts';
import { definePage } from '../define-page.ts';
import { idParams } from '../define-route.ts';
import { ownerOf } from '../owner-of.ts';
import { parseId } from '../parse-parameters.ts';
import { readInTurn } from '../read-in-turn.ts';

/** Lists the deliveries of a webhook, newest first. */
export const listWebhookDeliveriesRoute = definePage({
  path: '/v1/webhooks/:id/deliveries',
  summary: 'Deliveries of a webhook, newest first, with their payloads and attempts',
  description: 'A page of deliveries.',
  scope: 'account',
  params: idParams,
  item: webhookDeliverySchema,
  filter: { state: z.enum(deliveryStates).optional() },
  cursor: z.uuid(),
  async read(input, page) {
    const { context, key, params, query } = input;
    const webhook = await requireOwnWebhook(
      context.sql,
      ownerOf(key),
      parseId('Webhook', params.id),
    );
    const wanted = { state: query.state ?? null, ...page };
    return readInTurn(input, (tx) => listDeliveries(tx, webhook.id, wanted));
  },
  cursorOf: ({ id }) => id,
  view: viewDelivery,
});
