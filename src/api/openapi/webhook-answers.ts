/** What the operations on webhooks answer. */
import { z } from 'zod';
import { eventTypes } from '../../jobs/webhook/event-types.ts';
import { deliveryStates } from '../../jobs/webhook/webhooks.sql.ts';
import { pageOf } from './answer-schemas.ts';
import { type DocumentedOperation, ownObject } from './documented-operation.ts';

const text = z.string();
const time = z.iso.datetime();

const webhookShape = {
  id: z.uuid(),
  url: text,
  live: z.boolean(),
  events: z.array(z.enum(eventTypes)),
  credits_low_threshold: z.number().int(),
  enabled: z.boolean(),
  disabled_reason: z
    .enum(['gone', 'failing'])
    .nullable()
    .meta({ description: 'Why the service disabled it; null when it did not.' }),
  failing_since: time.nullable(),
  previous_secret_until: time.nullable(),
  created_at: time,
  links: z.record(text, text),
};
const webhookSchema = z.strictObject(webhookShape).meta({ id: 'Webhook' });
/** `secret` is null in a replay: it is shown once. */
const newWebhookSchema = z.strictObject({ secret: text.nullable(), ...webhookShape });

const webhookDeliverySchema = z
  .strictObject({
    id: z.uuid(),
    event_id: z.uuid().meta({ description: 'The header webhook-id.' }),
    type: text,
    state: z.enum(deliveryStates),
    attempts: z.number().int(),
    next_attempt_at: time.nullable(),
    attempted_at: time.nullable(),
    response_status: z.number().int().nullable(),
    error: text.nullable(),
    duration_ms: z.number().int().nullable(),
    created_at: time,
    delivered_at: time.nullable(),
    payload: z.strictObject({
      id: z.uuid(),
      type: text,
      timestamp: time,
      live: z.boolean(),
      data: z.record(text, z.unknown()),
    }),
  })
  .meta({ id: 'WebhookDelivery' });

export const webhooks: [string, DocumentedOperation][] = [
  [
    'post /v1/webhooks',
    {
      answers: [
        {
          status: 201,
          description: 'The webhook, its secret shown once.',
          schema: newWebhookSchema,
        },
      ],
      errors: [409, 413, 415, 422],
    },
  ],
  [
    'get /v1/webhooks',
    {
      answers: [{ status: 200, description: 'A page of webhooks.', schema: pageOf(webhookSchema) }],
      errors: [],
    },
  ],
  [
    'get /v1/webhooks/:id',
    ownObject({ status: 200, description: 'The webhook.', schema: webhookSchema }),
  ],
  [
    'patch /v1/webhooks/:id',
    ownObject(
      { status: 200, description: 'The webhook after the change.', schema: webhookSchema },
      413,
      415,
    ),
  ],
  ['delete /v1/webhooks/:id', ownObject({ status: 204, description: 'It is gone.' })],
  [
    'post /v1/webhooks/:id/rotate',
    ownObject(
      { status: 201, description: 'The new secret, shown once.', schema: newWebhookSchema },
      409,
      413,
      415,
      422,
    ),
  ],
  [
    'post /v1/webhooks/:id/test',
    ownObject(
      { status: 202, description: 'The delivery.', schema: webhookDeliverySchema },
      409,
      422,
    ),
  ],
  [
    'get /v1/webhooks/:id/deliveries',
    ownObject({
      status: 200,
      description: 'A page of deliveries.',
      schema: pageOf(webhookDeliverySchema),
    }),
  ],
  [
    'post /v1/webhooks/:id/deliveries/:delivery_id/replay',
    ownObject(
      { status: 202, description: 'The delivery.', schema: webhookDeliverySchema },
      409,
      422,
    ),
  ],
];
