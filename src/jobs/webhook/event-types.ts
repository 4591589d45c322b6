/**
 * Event types that webhooks receive. The triggers of the migration `webhooks` record them under the same names.
 */
export const eventTypes = [
  'batch.completed',
  'batch.failed',
  'batch.cancelled',
  'batch.paused',
  'export.completed',
  'export.failed',
  'export.cancelled',
  'export.paused',
  'schedule.skipped',
  'schedule.failed',
  'credits.low',
  'credits.empty',
  'key.revoked',
] as const;
export type EventType = (typeof eventTypes)[number];

/** Sent on request of the owner, to any webhook. */
export const TEST_EVENT_TYPE = 'webhook.test';
