/** What webhooks are told of. The triggers of the migration `webhooks` record these under the same names. */
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

/** Sent when its owner asks for it, to any webhook. */
export const testEventType = 'webhook.test';
