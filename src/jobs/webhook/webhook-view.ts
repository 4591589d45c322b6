/** A webhook and its deliveries as the API and the command line show them. */
import type { Delivery, Webhook } from './webhooks.sql.ts';

/** The JSON of a webhook, without its secret. */
export function viewWebhook(webhook: Webhook) {
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
export function viewDelivery(delivery: Delivery) {
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
