import { insertBudget } from '../credits/key-budgets.sql.ts';
import {
  creditsAvailable,
  creditsLeftToday,
  isPlain,
  joinSpendable,
} from '../credits/spendable.sql.ts';
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import type { TakenRequests } from '../limits/bucket.ts';
import type { LimitedKey } from '../limits/limiter.ts';
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
  /** Time at which it stopped being valid: revoked, or rolled and its overlap over. Null while it is valid. */
  revokedAt: Date | null;
  /** Credits that it may still spend this UTC day; null without a maximum. */
  creditsLeftToday: number | null;
}

/** The keys whose counters count the use of a key. */
export interface CountersOf {
  requestsOf: string;
  rowsOf: string;
  creditsOf: string;
}

export interface NewKey extends CountersOf {
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

/** Stores a key, with its spending maximum if any. Throws when the account does not exist. */
export async function insertKey(
  sql: Sql,
  key: NewKey,
  creditsPerDay: number | null,
): Promise<void> {
  await sql`
    with key as (insert into api_keys ${sql({ ...key })} returning id)
    ${insertBudget(sql, creditsPerDay)}`;
}

/** Stores the account's console key of the mode, unless it has one. */
export async function insertConsoleKey(sql: Sql, key: NewKey): Promise<void> {
  await sql`
    insert into api_keys ${sql({ ...key, isConsole: true })}
    on conflict (account_id, mode) where is_console and revoked_at is null do nothing`;
}

/** Returns the id of the account's console key of the mode. */
export async function findConsoleKey(
  sql: Sql,
  accountId: string,
  mode: KeyMode,
): Promise<string | undefined> {
  const [key] = await sql<{ id: string }[]>`
    select id from api_keys
    where account_id = ${accountId} and mode = ${mode} and is_console and revoked_at is null`;
  return key?.id;
}

/** Serialises the transactions that create keys of the account. */
export async function lockKeysOf(sql: Sql, accountId: string): Promise<void> {
  await sql`select from accounts where id = ${accountId} for no key update`;
}

/**
 * Counts the account's keys that are neither revoked nor expired, and those that were made in this UTC day, revoked ones
 * included.
 */
export async function countKeys(
  sql: Sql,
  accountId: string,
): Promise<{ valid: number; today: number }> {
  const [row] = await sql<{ valid: number; today: number }[]>`
    select count(*) filter (where is_valid(k)) as valid,
      count(*) filter (where (created_at at time zone 'UTC')::date = utc_today()) as today
    from api_keys k where account_id = ${accountId} and not is_console`;
  return must(row, 'counts');
}

/** The end of a key `k` that is no longer valid, and its remaining budget; needs `joinSpendable`. */
const validity = (sql: Sql) => sql`
  case when not is_valid(k) then least(k.revoked_at, k.expires_at) end as revoked_at,
  ${creditsLeftToday(sql)} as credits_left_today`;

/** Returns the key whose counters count the requests of this one. */
export async function findRequestsOf(sql: Sql, id: string): Promise<string> {
  const [key] = await sql<
    { requestsOf: string }[]
  >`select requests_of from api_keys where id = ${id}`;
  return must(key, `key ${id}`).requestsOf;
}

/** The caller of a request. */
export interface Caller {
  key: ApiKey;
  /** Credits of the account that are not reserved. */
  available: number;
  /** True when the account has no `owned_days` and the key no maximum: see `chargeCalls`. */
  isPlain: boolean;
}

/** A caller whose requests are counted in another store than Postgres. */
export interface LimitedCaller extends Caller {
  key: ApiKey & LimitedKey;
}

type CallerRow = ApiKey & Omit<Caller, 'key'>;

/** Columns of a caller whose key is `k`; needs `joinSpendable`. */
const callerColumns = (sql: Sql) => sql`
  k.id, k.account_id, k.mode, k.prefix, k.scopes, k.requests_per_minute,
  k.requests_per_day, k.rows_per_minute, k.created_at, ${validity(sql)},
  ${creditsAvailable(sql)} as available, ${isPlain(sql)} as is_plain`;

function toCaller<Row extends CallerRow>(row: Row): (Caller & { key: Row }) | undefined {
  // An unknown key has a row of nulls.
  if ((row.id as string | null) === null) return undefined;
  const { available, isPlain } = row;
  return { key: row, available, isPlain };
}

/**
 * Finds the keys with these hashes, in hexadecimal, revoked or not, and reads their wallets, in one statement. The
 * results are in the order of the hashes; undefined for an unknown key.
 */
export async function findCallers(
  sql: Sql,
  hashes: readonly string[],
): Promise<(LimitedCaller | undefined)[]> {
  const rows = await sql<(CallerRow & LimitedKey)[]>`
    select ${callerColumns(sql)}, k.requests_of
    from unnest(string_to_array(${hashes.join(' ')}, ' ')) with ordinality p (hash, place)
    left join api_keys k on k.key_sha256 = decode(p.hash, 'hex')
    ${joinSpendable(sql)}
    order by p.place`;
  return rows.map(toCaller);
}

/** Concurrent calls with one key. */
export interface PresentedKey {
  /** Hexadecimal. */
  keySha256: string;
  calls: number;
}

/** A caller, and the result of its minute and day limits; null for a revoked key, which is not counted. */
export interface CountedCaller extends Caller {
  taken: TakenRequests | null;
}

/**
 * Finds the keys, each named once, counts their calls against minute and day, and reads the wallets, in one
 * statement. The results are in the order of the keys; undefined for an unknown key.
 */
export async function countCallers(
  sql: Sql,
  presented: readonly PresentedKey[],
): Promise<(CountedCaller | undefined)[]> {
  const callers = await countWhereCounted(sql, presented);
  const isUncounted = (caller: CountedCaller | undefined) =>
    caller !== undefined && caller.key.revokedAt === null && caller.taken === null;
  const uncounted = callers.filter(isUncounted) as CountedCaller[];
  if (uncounted.length === 0) return callers;
  // The first call of a key, or of its day.
  await insertCounters(sql, uncounted);
  const again = await countCallers(
    sql,
    presented.filter((_, place) => isUncounted(callers[place])),
  );
  const answers = again.values();
  return callers.map((caller) => (isUncounted(caller) ? answers.next().value : caller));
}

/**
 * As `countCallers`, but `taken` is also null for a key that has no counters of this day. Counters are locked in
 * the order of their owners, so that two processes never deadlock, and the clock is read after the wait: time that
 * passed meanwhile counts. Of keys that share counters, each is admitted as if those before it had taken all that
 * they alone could. The commit is asynchronous: the charge of a call commits synchronously and later in the same
 * log, so that a crash loses the counts of unpaid calls only.
 */
async function countWhereCounted(
  sql: Sql,
  presented: readonly PresentedKey[],
): Promise<(CountedCaller | undefined)[]> {
  type Row = CallerRow & { counted: boolean } & TakenRequests;
  const rows = await sql<Row[]>`
    with presented as (
      select decode(hash, 'hex') as key_sha256, calls, place
      from unnest(
        string_to_array(${presented.map(({ keySha256 }) => keySha256).join(' ')}, ' '),
        ${presented.map(({ calls }) => calls)}::int[]) with ordinality h (hash, calls, place)),
    -- Times in microseconds since 1970. The cost of a call is rounded down: rounding never refuses a call.
    locked as (
      select p.place, p.calls, k.requests_of as owner, 60000000 / k.requests_per_minute as gained_in,
        k.requests_per_day, d.day, d.requests as used,
        (extract(epoch from b.full_at) * 1000000)::bigint as full_at
      from presented p join api_keys k using (key_sha256)
      join day_counts d on d.owner = k.requests_of and d.day = utc_today()
      join rate_buckets b on b.owner = k.requests_of and b.name = 'requests'
      where is_valid(k)
      order by k.requests_of for update of d, b),
    timed as (
      select *, (extract(epoch from clock_timestamp()) * 1000000)::bigint as moment from locked),
    bucket as (
      select place, calls, owner, gained_in, requests_per_day, day, used,
        max(moment) over family as moment,
        -- A minute's requests, plus another minute that unfinished searches may owe: a later time comes from a
        -- clock that was set back, and is reset.
        least(greatest(full_at, max(moment) over family),
          max(moment) over family + 120000000) as full_at,
        full_at > max(moment) over family + 120000000 as is_late
      from timed window family as (partition by owner)),
    -- What each could take if it were the only one of those that share counters.
    alone as (
      select *, greatest(0, least(calls, requests_per_day - used,
        (moment + 60000000 - full_at) / nullif(gained_in, 0))) as could
      from bucket),
    counted as (
      select *, greatest(0, least(could,
        requests_per_day - used - coalesce(sum(could) over before, 0)::bigint,
        (moment + 60000000 - full_at - coalesce(sum(could * gained_in) over before, 0)::bigint)
          / nullif(gained_in, 0))) as admitted
      from alone window before as (
        partition by owner order by place rows between unbounded preceding and 1 preceding)),
    taken as (
      select owner, day, used + sum(admitted)::int as used,
        full_at + sum(admitted * gained_in)::bigint as full_at
      from counted group by owner, day, used, full_at
      having sum(admitted) > 0 or bool_or(is_late)),
    day_counted as (
      update day_counts d set requests = t.used
      from taken t where d.owner = t.owner and d.day = t.day),
    minute_counted as (
      update rate_buckets b set full_at = timestamptz '1970-01-01 00:00:00+00'
        + t.full_at * interval '1 microsecond'
      from taken t where b.owner = t.owner and b.name = 'requests'),
    told as (
      select place, moment, admitted, used + coalesce(sum(admitted) over before, 0)::bigint as used,
        full_at + coalesce(sum(admitted * gained_in) over before, 0)::bigint as full_at
      from counted window before as (
        partition by owner order by place rows between unbounded preceding and 1 preceding))
    select ${callerColumns(sql)},
      t.place is not null as counted, t.moment as now, t.full_at, t.used, t.admitted
    from presented p
    left join api_keys k using (key_sha256)
    ${joinSpendable(sql)}
    left join told t using (place)
    cross join (select set_config('synchronous_commit', 'off', true)) s (setting)
    order by p.place`;
  return rows.map((row) => {
    const caller = toCaller(row);
    return caller && { ...caller, taken: row.counted ? row : null };
  });
}

/** Creates the missing counters of these keys for this day, in the order of their owners. */
async function insertCounters(sql: Sql, callers: readonly Caller[]): Promise<void> {
  const ids = callers.map(({ key }) => key.id);
  await sql`
    with owner as materialized (
      select distinct requests_of as owner from api_keys where id = any(${ids}::uuid[])
      order by requests_of),
    day as (
      insert into day_counts (owner, day, requests)
      select owner, utc_today(), 0 from owner on conflict do nothing)
    insert into rate_buckets (owner, name, full_at)
    select owner, 'requests', clock_timestamp() from owner on conflict do nothing`;
}
