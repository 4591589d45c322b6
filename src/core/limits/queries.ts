import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';

/** What a key has left, after a request was counted or refused. Times in seconds. */
export interface RequestLimits {
  admitted: boolean;
  refusedBy: 'minute' | 'day' | null;
  minuteRemaining: number;
  minuteResetSeconds: number;
  dayRemaining: number;
  dayResetSeconds: number;
  retrySeconds: number;
}

/** A key, and what it may do. */
export interface LimitedKey {
  id: string;
  requestsPerMinute: number;
  requestsPerDay: number;
}

/** Counts a request against minute and day of a key in one round trip; a refusal counts nothing. */
export async function takeRequest(sql: Sql, key: LimitedKey): Promise<RequestLimits> {
  const [row] = await sql<RequestLimits[]>`
    select admitted, refused_by, minute_remaining,
      extract(epoch from minute_full_in)::float8 as minute_reset_seconds, day_remaining,
      extract(epoch from day_ends_in)::float8 as day_reset_seconds,
      extract(epoch from retry_in)::float8 as retry_seconds
    from take_request(${key.id}, ${key.requestsPerMinute}, ${key.requestsPerDay})`;
  return must(row, 'answer of take_request');
}

/** What is left of a bucket. Times in seconds. */
export interface Tokens {
  admitted: boolean;
  remaining: number;
  retrySeconds: number;
}

/** Takes tokens from a bucket of `perMinute`; a refusal takes nothing. */
export async function takeTokens(
  sql: Sql,
  bucket: { owner: string; name: string; perMinute: number; cost: number },
): Promise<Tokens> {
  const [row] = await sql<Tokens[]>`
    select admitted, remaining, extract(epoch from retry_in)::float8 as retry_seconds
    from take_tokens(${bucket.owner}, ${bucket.name}, ${bucket.perMinute}, ${bucket.cost})`;
  return must(row, 'answer of take_tokens');
}

/** Forgets counters of past days and buckets that are full again. */
export async function deleteOldLimits(sql: Sql): Promise<void> {
  await sql`delete from day_counts where day < (now() at time zone 'UTC')::date - 1`;
  await sql`delete from rate_buckets where full_at < now() - interval '1 hour'`;
}
