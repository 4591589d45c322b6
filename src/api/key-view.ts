/** A key as the API shows it, and which keys a caller may see. */
import type { AccountKey, KeyOwner } from '../core/keys/account-keys.sql.ts';
import type { ApiKey } from '../core/keys/keys.sql.ts';

/** The JSON of a key; never its text. */
export function viewKey(key: AccountKey) {
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
  };
}

/** A live key sees all keys of its account, a test key those of test mode. */
export function keysOf(key: ApiKey): KeyOwner {
  return { accountId: key.accountId, mode: key.mode === 'live' ? null : 'test' };
}
