import { z } from 'zod';
import { viewDelivery, webhookDeliverySchema } from '../../jobs/webhook/webhook-view.ts';
import { deliveryStates, listDeliveries } from '../../jobs/webhook/webhooks.sql.ts';
import { definePage } from '../http/define-page.ts';
import { idParams } from '../http/define-route.ts';
import { webhookOfPath } from '../own-objects.ts';
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
    const webhook = await webhookOfPath(input);
    const wanted = { state: input.query.state ?? null, ...page };
    return readInTurn(input, (tx) => listDeliveries(tx, webhook.id, wanted));
  },
  cursorOf: ({ id }) => id,
  view: viewDelivery,
});
