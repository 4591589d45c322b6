/** Statements about the keys of an account, as their holder sees and changes them. */
import { creditsPerDay } from '../credits/key-budgets.sql.ts';
import type { Sql } from '../db/client.ts';
import { isUuid } from '../lib/ids.ts';
import type { KeyMode } from './key-format.ts';
import type { CountersOf } from './keys.sql.ts';

/** A key as its holder sees it, and the keys whose counters it uses. */
export interface AccountKey extends CountersOf {
  id: string;
  accountId: string;
  prefix: string;
  name: string | null;
  mode: KeyMode;
  scopes: string[];
  requestsPerMinute: number;
  requestsPerDay: number;
  rowsPerMinute: number | null;
  creditsPerDay: number | null;
  createdAt: Date;
  /** Time at which a rolled key expires. */
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** Time of its last call, accurate to five minutes; null before the first. */
  lastUsedAt: Date | null;
  /** Requests of this UTC day, also those of keys that share its counter. */
  requestsToday: number;
  /** The key that sessions with the account's password present. */
  isConsole: boolean;
}

const columns = (sql: Sql) => sql`
  k.id, k.account_id, k.prefix, k.name, k.mode, k.scopes, k.requests_per_minute,
  k.requests_per_day, k.rows_per_minute, ${creditsPerDay(sql)} as credits_per_day, k.created_at,
  k.expires_at, k.revoked_at, (select used_at from key_uses where key_id = k.id) as last_used_at,
  coalesce((select requests from day_counts where owner = k.requests_of and day = utc_today()), 0)
    as requests_today,
  k.is_console, k.requests_of, k.rows_of, k.credits_of`;

/** The owner of keys: an account, in one mode, or in both for null. Console keys are excluded. */
export interface KeyOwner {
  accountId: string;
  mode: KeyMode | null;
}

const owned = (sql: Sql, { accountId, mode }: KeyOwner) => sql`
  k.account_id = ${accountId} and not k.is_console and (${mode}::text is null or k.mode = ${mode})`;

/** Returns a page of an account's keys, newest first; `before` is the last id of the previous page. */
export async function listKeys(
  sql: Sql,
  owner: KeyOwner,
  page: { before: string | null; limit: number },
): Promise<AccountKey[]> {
  return sql<AccountKey[]>`
    select ${columns(sql)}
    from api_keys k
    where ${owned(sql, owner)} and (${page.before}::uuid is null or (k.created_at, k.id) < (
      select o.created_at, o.id from api_keys o
      where o.id = ${page.before} and o.account_id = ${owner.accountId}))
    order by k.created_at desc, k.id desc limit ${page.limit}`;
}

/** Returns a key of this owner, locked until the transaction ends; undefined for other owners' keys. */
export async function findOwnKey(
  sql: Sql,
  owner: KeyOwner,
  id: string,
): Promise<AccountKey | undefined> {
  const [key] = await sql<AccountKey[]>`
    select ${columns(sql)}
    from api_keys k
    where k.id = ${id} and ${owned(sql, owner)} for no key update of k`;
  return key;
}

/** Returns the key of an authenticated call, a console key included. */
export async function findCallersKey(sql: Sql, id: string): Promise<AccountKey | undefined> {
  const [key] = await sql<AccountKey[]>`
    select ${columns(sql)}
    from api_keys k
    where k.id = ${id}`;
  return key;
}

/** Returns the keys with this display prefix, or the key with this id. */
export async function findKeysByPrefixOrId(sql: Sql, text: string): Promise<AccountKey[]> {
  return sql<AccountKey[]>`
    select ${columns(sql)}
    from api_keys k
    where ${isUuid(text) ? sql`k.id = ${text}` : sql`k.prefix = ${text}`} order by k.id`;
}

/** Revokes a key now. One that was revoked before keeps its time. */
export async function revokeKeyById(sql: Sql, id: string): Promise<void> {
  await sql`update api_keys set revoked_at = now() where id = ${id} and revoked_at is null`;
}

/** Lets a key expire after so many seconds, unless it ends sooner. */
export async function expireKey(sql: Sql, id: string, seconds: number): Promise<void> {
  await sql`
    update api_keys
    set expires_at = least(expires_at, now() + make_interval(secs => ${seconds})) where id = ${id}`;
}
