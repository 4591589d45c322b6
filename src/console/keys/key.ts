/** A key as the API shows it; its text is in the answer that made it and nowhere else. */
import type { Calls, Key } from '../../client/api-types.ts';
import type { Tone } from '../components/badge.tsx';

export type { Key };

/** The response that makes a key: its text is null when the response is repeated. */
export type MadeKey = Calls['POST /v1/keys']['response'];

/** Permissions of a key, in plain words. */
export const scopes: readonly { name: string; label: string }[] = [
  { name: 'enrich', label: 'Single records and lookups' },
  { name: 'search', label: 'Search for people' },
  { name: 'batches', label: 'Lists' },
  { name: 'exports', label: 'Exports and schedules' },
  { name: 'account', label: 'Keys, usage and webhooks of the account' },
  {
    name: 'reconcile',
    label: 'OpenRefine, by an address that contains the key (no other permission)',
  },
];

/** The state of a key: can it still call? */
export function stateOf(key: Key, now: number): { label: string; tone: Tone; isInForce: boolean } {
  const endsAt = key.expires_at === null ? null : Date.parse(key.expires_at);
  if (key.revoked_at !== null) return { label: 'Revoked', tone: 'neutral', isInForce: false };
  if (endsAt === null) return { label: 'Active', tone: 'good', isInForce: true };
  if (endsAt <= now) return { label: 'Expired', tone: 'neutral', isInForce: false };
  return { label: 'Expiring', tone: 'warn', isInForce: true };
}
