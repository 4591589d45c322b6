import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import type { Bucket, Tokens } from './limiter.ts';

/** Takes tokens from a bucket of `perMinute`; a refusal takes nothing. */
export async function takeTokens(sql: Sql, bucket: Bucket): Promise<Tokens> {
  const [row] = await sql<Tokens[]>`
    select admitted, remaining, extract(epoch from retry_in)::float8 as retry_seconds
    from take_tokens(${bucket.owner}, ${bucket.name}, ${bucket.perMinute}, ${bucket.cost})`;
  return must(row, 'result of take_tokens');
}

/** Takes tokens from a bucket of `perMinute` even if they are missing; the debt is at most a minute of them. */
export async function oweTokens(sql: Sql, bucket: Bucket): Promise<void> {
  const gained = sql`${bucket.cost}::int * interval '1 minute' / ${bucket.perMinute}::int`;
  await sql`
    insert into rate_buckets as b (owner, name, full_at)
    values (${bucket.owner}, ${bucket.name}, clock_timestamp() + least(${gained}, interval '2 minutes'))
    on conflict (owner, name) do update set full_at = least(
      greatest(b.full_at, clock_timestamp()) + ${gained}, clock_timestamp() + interval '2 minutes')`;
}

/** A part of a key's day that another store wants to count on its own. */
export interface WantedLease {
  owner: string;
  /** Days since 1970. */
  day: number;
  perDay: number;
  wanted: number;
}

/**
 * Grants leases, in the order of the requests: how many requests each may count, and how many are granted of that
 * day in all. Counters are locked in the order of the owners.
 */
export async function leaseRequests(
  sql: Sql,
  leases: readonly WantedLease[],
): Promise<{ granted: number; total: number }[]> {
  return sql<{ granted: number; total: number }[]>`
    with wanted as (
      select * from unnest(
        ${leases.map(({ owner }) => owner)}::uuid[], ${leases.map(({ day }) => day)}::int[],
        ${leases.map(({ perDay }) => perDay)}::int[], ${leases.map(({ wanted }) => wanted)}::int[]
      ) with ordinality w (owner, day, per_day, wanted, place)
      order by owner, place offset 0),
    leased as (
      select wanted.place, lease.*
      from wanted cross join lateral lease_requests(
        wanted.owner, date '1970-01-01' + wanted.day, wanted.per_day, wanted.wanted) lease)
    select granted, total from leased order by place`;
}

/** Takes requests from the present day of a key; false, and nothing is taken, when it has not as many left. */
export async function takeFromDay(
  sql: Sql,
  { owner, perDay, requests }: { owner: string; perDay: number; requests: number },
): Promise<boolean> {
  const taken = await sql`
    insert into day_counts as d (owner, day, requests)
    select ${owner}, (clock_timestamp() at time zone 'UTC')::date, ${requests}::int
    where ${requests}::int <= ${perDay}::int
    on conflict (owner, day) do update set requests = d.requests + excluded.requests
    where d.requests + excluded.requests <= ${perDay}::int
    returning owner`;
  return taken.length > 0;
}

/**
 * Deletes counters of past days and buckets that are full again. It waits for no bucket: calls lock several in the order of their
 * owners, and each would wait for the other.
 */
export async function deleteOldLimits(sql: Sql): Promise<void> {
  await sql`delete from day_counts where day < (now() at time zone 'UTC')::date - 1`;
  await sql`
    delete from rate_buckets b using (
      select owner, name from rate_buckets where full_at < now() - interval '1 hour' for update skip locked) old
    where (b.owner, b.name) = (old.owner, old.name)`;
}
