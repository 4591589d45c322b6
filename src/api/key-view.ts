/** The JSON of a key, and the keys that a caller may see. */
import { z } from 'zod';
import type { AccountKey, KeyOwner } from '../core/keys/account-keys.sql.ts';
import type { ApiKey } from '../core/keys/keys.sql.ts';

const integer = z.number().int();
const text = z.string();
const time = z.iso.datetime();

const keyShape = {
  id: z.uuid(),
  prefix: text,
  name: text.nullable(),
  mode: z.enum(['live', 'test']),
  scopes: z.array(text),
  requests_per_minute: integer,
  requests_per_day: integer,
  rows_per_minute: integer.nullable(),
  credits_per_day: integer.nullable(),
  created_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  last_used_at: time.nullable().meta({
    description: 'Time of its last call, accurate to five minutes; null before the first.',
  }),
  requests_today: integer.meta({
    description:
      'Requests of this UTC day, as `requests_per_day` counts them: those of a rotated key and of the one before together. With Redis, requests that a process has reserved count too.',
  }),
};
export const keySchema = z.strictObject(keyShape).meta({ id: 'Key' });
/** `key` is null in a replay: the text is shown once. */
export const newKeySchema = z.strictObject({ key: text.nullable(), ...keyShape });
export const rolledKeySchema = z.strictObject({
  key: text.nullable(),
  ...keyShape,
  replaces: keySchema,
});

/** Returns the JSON of a key, without its text. */
export function viewKey(key: AccountKey): z.output<typeof keySchema> {
  return {
    id: key.id,
    prefix: key.prefix,
    name: key.name,
    mode: key.mode,
    scopes: key.scopes,
    requests_per_minute: key.requestsPerMinute,
    requests_per_day: key.requestsPerDay,
    rows_per_minute: key.rowsPerMinute,
    credits_per_day: key.creditsPerDay,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    requests_today: key.requestsToday,
  };
}

/** Returns the keys that a caller may see: for a live key all of its account, for a test key those of test mode. */
export function keysOf(key: ApiKey): KeyOwner {
  return { accountId: key.accountId, mode: key.mode === 'live' ? null : 'test' };
}
