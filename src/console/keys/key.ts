/** A key as the API shows it; its text is in the answer that made it and nowhere else. */
import type { Tone } from '../components/badge.tsx';

export interface Key {
  id: string;
  prefix: string;
  name: string | null;
  mode: 'live' | 'test';
  scopes: string[];
  requests_per_minute: number;
  requests_per_day: number;
  rows_per_minute: number | null;
  credits_per_day: number | null;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
}

/** The answer that makes a key: its text is null when the answer is repeated. */
export interface MadeKey extends Key {
  key: string | null;
}

/** What a key can be allowed to do, in a person's words. */
export const scopes: readonly { name: string; label: string }[] = [
  { name: 'enrich', label: 'Single records and lookups' },
  { name: 'search', label: 'Search for people' },
  { name: 'batches', label: 'Lists' },
  { name: 'exports', label: 'Exports and schedules' },
  { name: 'account', label: 'Keys, usage and webhooks of the account' },
];

/** Whether a key can still call, and how to say so. */
export function stateOf(key: Key, now: number): { label: string; tone: Tone; isInForce: boolean } {
  const endsAt = key.expires_at === null ? null : Date.parse(key.expires_at);
  if (key.revoked_at !== null) return { label: 'Revoked', tone: 'neutral', isInForce: false };
  if (endsAt === null) return { label: 'In force', tone: 'good', isInForce: true };
  if (endsAt <= now) return { label: 'Replaced', tone: 'neutral', isInForce: false };
  return { label: 'Being replaced', tone: 'warn', isInForce: true };
}
