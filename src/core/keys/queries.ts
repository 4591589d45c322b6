import type { Sql } from '../db/client.ts';
import type { KeyMode } from './key-format.ts';

/** A stored key as the rest of the service sees it. */
export interface ApiKey {
  id: string;
  accountId: string;
  mode: KeyMode;
  prefix: string;
  scopes: string[];
  requestsPerMinute: number;
  requestsPerDay: number;
  rowsPerMinute: number | null;
  createdAt: Date;
  revokedAt: Date | null;
}

export interface NewKey {
  id: string;
  accountId: string;
  mode: KeyMode;
  prefix: string;
  keySha256: Buffer;
  scopes: string[];
  requestsPerMinute: number;
  requestsPerDay: number;
  rowsPerMinute: number | null;
}

/** Stores a key. Throws when the account does not exist. */
export async function insertKey(sql: Sql, key: NewKey): Promise<void> {
  await sql`insert into api_keys ${sql({ ...key })}`;
}

/** The key with this hash, revoked or not. */
export async function findKeyByHash(sql: Sql, keySha256: Buffer): Promise<ApiKey | undefined> {
  const [key] = await sql<ApiKey[]>`
    select id, account_id, mode, prefix, scopes, requests_per_minute, requests_per_day,
      rows_per_minute, created_at, revoked_at
    from api_keys where key_sha256 = ${keySha256}`;
  return key;
}

/** Revokes the keys with this prefix; returns their ids. A key already revoked is left as it is. */
export async function revokeKeysByPrefix(sql: Sql, prefix: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    update api_keys set revoked_at = now()
    where prefix = ${prefix} and revoked_at is null returning id`;
  return rows.map((row) => row.id);
}

/** What one counted call may do now. Times in seconds. */
export interface AdmittedCall {
  key: ApiKey;
  /** Credits of the account that nothing has reserved. */
  available: number;
  /** Absent for a revoked key, which is not counted. */
  limits: {
    admitted: boolean;
    refusedBy: 'minute' | 'day' | null;
    minuteRemaining: number;
    minuteResetSeconds: number;
    dayRemaining: number;
    dayResetSeconds: number;
    retrySeconds: number;
  };
}

type AdmittedRow = ApiKey & AdmittedCall['limits'] & { found: boolean; available: number };

/**
 * Finds the keys with these hashes, counts a call against minute and day of each, and reads the wallets,
 * in one statement. The answers stand in the order of the hashes; undefined for a key that is unknown.
 * Counters are locked in the order of the keys, so that two processes never wait for each other.
 */
export async function admitCalls(
  sql: Sql,
  hashes: readonly Buffer[],
): Promise<(AdmittedCall | undefined)[]> {
  const rows = await sql<AdmittedRow[]>`
    with presented as (
      select decode(hash, 'hex') as key_sha256, place
      from string_to_table(${hashes.map((hash) => hash.toString('hex')).join(' ')}, ' ')
        with ordinality h (hash, place)),
    caller as (
      select p.place, k.id, k.requests_per_minute, k.requests_per_day
      from presented p join api_keys k using (key_sha256)
      where k.revoked_at is null order by k.id, p.place offset 0),
    counted as (
      select caller.place, taken.*
      from caller cross join lateral take_request(
        caller.id, caller.requests_per_minute, caller.requests_per_day) taken)
    select k.id is not null as found, k.id, k.account_id, k.mode, k.prefix, k.scopes,
      k.requests_per_minute, k.requests_per_day, k.rows_per_minute, k.created_at, k.revoked_at,
      w.balance - w.reserved as available, c.admitted, c.refused_by, c.minute_remaining,
      extract(epoch from c.minute_full_in)::float8 as minute_reset_seconds, c.day_remaining,
      extract(epoch from c.day_ends_in)::float8 as day_reset_seconds,
      extract(epoch from c.retry_in)::float8 as retry_seconds
    from presented p
    left join api_keys k using (key_sha256)
    left join wallets w on w.account_id = k.account_id
    left join counted c using (place)
    order by p.place`;
  return rows.map((row) =>
    row.found ? { key: row, available: row.available, limits: row } : undefined,
  );
}
