import type { Sql } from '../db/client.ts';
import type { RequestLimits } from '../limits/limiter.ts';
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
  /** When it stopped being valid: revoked, or replaced and its overlap over. Null while it is valid. */
  revokedAt: Date | null;
  /** Credits that its single calls may still spend this UTC day; null where the key sets no bound. */
  creditsLeftToday: number | null;
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
  name: string | null;
}

/** Stores a key, with its bound on credits where it has one. Throws when the account does not exist. */
export async function insertKey(
  sql: Sql,
  key: NewKey,
  creditsPerDay: number | null,
): Promise<void> {
  await sql`
    with key as (insert into api_keys ${sql({ ...key })} returning id)
    insert into key_budgets (key_id, credits_per_day)
    select id, ${creditsPerDay}::bigint from key where ${creditsPerDay}::bigint is not null`;
}

/** When a key ended, by the database's clock, and what it may still spend; `k` and `b` are its rows. */
const validity = (sql: Sql) => sql`
  case when least(k.revoked_at, k.expires_at) <= clock_timestamp()
    then least(k.revoked_at, k.expires_at) end as revoked_at,
  b.credits_per_day - case when b.day = (now() at time zone 'UTC')::date then b.spent else 0 end
    as credits_left_today`;

/** The key with this hash, revoked or not. */
export async function findKeyByHash(sql: Sql, keySha256: Buffer): Promise<ApiKey | undefined> {
  const [key] = await sql<ApiKey[]>`
    select k.id, k.account_id, k.mode, k.prefix, k.scopes, k.requests_per_minute,
      k.requests_per_day, k.rows_per_minute, k.created_at, ${validity(sql)}
    from api_keys k left join key_budgets b on b.key_id = k.id where key_sha256 = ${keySha256}`;
  return key;
}

/** Revokes the keys with this prefix; returns their ids. A key already revoked is left as it is. */
export async function revokeKeysByPrefix(sql: Sql, prefix: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    update api_keys set revoked_at = now()
    where prefix = ${prefix} and revoked_at is null returning id`;
  return rows.map((row) => row.id);
}

/** Who calls with a key. */
export interface Caller {
  key: ApiKey;
  /** Credits of the account that nothing has reserved. */
  available: number;
}

/** What one counted call may do now. */
export interface AdmittedCall extends Caller {
  /** Absent for a revoked key, which is not counted. */
  limits: RequestLimits;
}

type CallerRow = ApiKey & { found: boolean; available: number };

/**
 * Finds the keys with these hashes and reads their wallets, in one statement. The answers stand in the
 * order of the hashes; undefined for a key that is unknown.
 */
export async function findCallers(
  sql: Sql,
  hashes: readonly Buffer[],
): Promise<(Caller | undefined)[]> {
  const rows = await sql<CallerRow[]>`
    select k.id is not null as found, k.id, k.account_id, k.mode, k.prefix, k.scopes,
      k.requests_per_minute, k.requests_per_day, k.rows_per_minute, k.created_at, ${validity(sql)},
      w.balance - w.reserved as available
    from string_to_table(${hashes.map((hash) => hash.toString('hex')).join(' ')}, ' ')
      with ordinality p (hash, place)
    left join api_keys k on k.key_sha256 = decode(p.hash, 'hex')
    left join key_budgets b on b.key_id = k.id
    left join wallets w on w.account_id = k.account_id
    order by p.place`;
  return rows.map((row) => (row.found ? { key: row, available: row.available } : undefined));
}

/**
 * Finds the keys with these hashes, counts a call against minute and day of each, and reads the wallets,
 * in one statement. The answers stand in the order of the hashes; undefined for a key that is unknown.
 * Counters are locked in the order of the keys, so that two processes never wait for each other.
 */
export async function admitCalls(
  sql: Sql,
  hashes: readonly Buffer[],
): Promise<(AdmittedCall | undefined)[]> {
  const rows = await sql<(CallerRow & RequestLimits)[]>`
    with presented as (
      select decode(hash, 'hex') as key_sha256, place
      from string_to_table(${hashes.map((hash) => hash.toString('hex')).join(' ')}, ' ')
        with ordinality h (hash, place)),
    caller as (
      select p.place, k.id, k.requests_per_minute, k.requests_per_day
      from presented p join api_keys k using (key_sha256)
      where least(k.revoked_at, k.expires_at) > clock_timestamp()
        or least(k.revoked_at, k.expires_at) is null order by k.id, p.place offset 0),
    counted as (
      select caller.place, taken.*
      from caller cross join lateral take_request(
        caller.id, caller.requests_per_minute, caller.requests_per_day) taken)
    select k.id is not null as found, k.id, k.account_id, k.mode, k.prefix, k.scopes,
      k.requests_per_minute, k.requests_per_day, k.rows_per_minute, k.created_at, ${validity(sql)},
      w.balance - w.reserved as available, c.admitted, c.refused_by, c.minute_remaining,
      extract(epoch from c.minute_full_in)::float8 as minute_reset_seconds, c.day_remaining,
      extract(epoch from c.day_ends_in)::float8 as day_reset_seconds,
      extract(epoch from c.retry_in)::float8 as retry_seconds
    from presented p
    left join api_keys k using (key_sha256)
    left join key_budgets b on b.key_id = k.id
    left join wallets w on w.account_id = k.account_id
    left join counted c using (place)
    order by p.place`;
  return rows.map((row) =>
    row.found ? { key: row, available: row.available, limits: row } : undefined,
  );
}
