/** The JSON of a webhook that callers send. */
import { z } from 'zod';
import { omitUndefined } from '../core/lib/omit-undefined.ts';
import { eventTypes } from '../jobs/webhook/event-types.ts';
import type { WebhookChange } from '../jobs/webhook/webhooks.sql.ts';
import type { WebhookRequest } from '../jobs/webhook/webhooks.ts';

const url = z.string().max(2_048);
const events = z
  .array(z.enum(eventTypes))
  .min(1)
  .max(eventTypes.length)
  .transform((types) => [...new Set(types)]);
const creditsLowThreshold = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);

/** A new webhook. */
export const webhookOptions = z.strictObject({
  url,
  events: events.default([...eventTypes]),
  credits_low_threshold: creditsLowThreshold.default(100),
  enabled: z.boolean().default(true),
});

/** A change of a webhook: absent members stay unchanged. */
export const webhookChange = z.strictObject({
  url: url.optional(),
  events: events.optional(),
  credits_low_threshold: creditsLowThreshold.optional(),
  enabled: z.boolean().optional(),
});

/** Returns the members of the body under the service's names. */
export function toWebhookRequest(body: z.output<typeof webhookOptions>): WebhookRequest;
export function toWebhookRequest(body: z.output<typeof webhookChange>): WebhookChange;
export function toWebhookRequest(body: z.output<typeof webhookChange>): WebhookChange {
  const { credits_low_threshold, ...same } = body;
  return omitUndefined({ ...same, creditsLowThreshold: credits_low_threshold });
}
