/** A webhook and what it was sent, as the API shows them. */
import type { Calls, Webhook, WebhookDelivery } from '../../client/api-types.ts';
import type { Tone } from '../components/badge.tsx';

export type { Webhook };

/** The response that holds the signing secret; null when the response is repeated. */
export type WebhookWithSecret = Calls['POST /v1/webhooks']['response'];

export type Delivery = WebhookDelivery;

/** Types of events, in groups. */
export const eventGroups: readonly { label: string; events: readonly string[] }[] = [
  {
    label: 'Lists',
    events: ['batch.completed', 'batch.failed', 'batch.cancelled', 'batch.paused'],
  },
  {
    label: 'Exports',
    events: ['export.completed', 'export.failed', 'export.cancelled', 'export.paused'],
  },
  { label: 'Schedules', events: ['schedule.skipped', 'schedule.failed'] },
  { label: 'Account', events: ['credits.low', 'credits.empty', 'key.revoked'] },
];

export const allEvents: readonly string[] = eventGroups.flatMap(({ events }) => events);

/** `batch.completed` is `completed` among the lists; what happens to an account says to what. */
export function eventWord(event: string): string {
  if (/^(credits|key)\./.test(event)) return event.replace('.', ' ');
  return event.split('.')[1]?.replaceAll('_', ' ') ?? event;
}

export function stateOf(webhook: Webhook): { label: string; tone: Tone } {
  if (!webhook.enabled) return { label: 'Off', tone: 'neutral' };
  if (webhook.failing_since !== null) return { label: 'Failing', tone: 'bad' };
  return { label: 'On', tone: 'good' };
}

const deliveryStates: Record<string, { label: string; tone: Tone }> = {
  delivered: { label: 'Delivered', tone: 'good' },
  pending: { label: 'Pending', tone: 'active' },
  failed: { label: 'Failed', tone: 'bad' },
};

export function deliveryState(state: string): { label: string; tone: Tone } {
  return deliveryStates[state] ?? { label: state, tone: 'neutral' };
}
