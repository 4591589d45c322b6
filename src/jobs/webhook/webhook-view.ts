/** A webhook and its deliveries as the API and the command line show them. */
import { z } from 'zod';
import { eventTypes } from './event-types.ts';
import { type Delivery, deliveryStates, type Webhook } from './webhooks.sql.ts';

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
export const webhookSchema = z.strictObject(webhookShape).meta({ id: 'Webhook' });
/** `secret` is null in a replay: it is shown once. */
export const newWebhookSchema = z.strictObject({ secret: text.nullable(), ...webhookShape });

export const webhookDeliverySchema = z
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

/** The JSON of a webhook, without its secret. */
export function viewWebhook(webhook: Webhook): z.output<typeof webhookSchema> {
  const self = `/v1/webhooks/${webhook.id}`;
  return {
    id: webhook.id,
    url: webhook.url,
    live: webhook.live,
    events: webhook.events,
    credits_low_threshold: webhook.creditsLowThreshold,
    enabled: webhook.enabled,
    disabled_reason: webhook.disabledReason,
    failing_since: webhook.failingSince?.toISOString() ?? null,
    previous_secret_until: webhook.previousUntil?.toISOString() ?? null,
    created_at: webhook.createdAt.toISOString(),
    links: { self, deliveries: `${self}/deliveries` },
  };
}

/** The JSON of a delivery. */
export function viewDelivery(delivery: Delivery): z.output<typeof webhookDeliverySchema> {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    type: delivery.type,
    state: delivery.state,
    attempts: delivery.attempts,
    next_attempt_at: delivery.state === 'pending' ? delivery.dueAt.toISOString() : null,
    attempted_at: delivery.attemptedAt?.toISOString() ?? null,
    response_status: delivery.responseStatus,
    error: delivery.error,
    duration_ms: delivery.durationMs,
    created_at: delivery.createdAt.toISOString(),
    delivered_at: delivery.deliveredAt?.toISOString() ?? null,
    payload: delivery.payload,
  };
}
