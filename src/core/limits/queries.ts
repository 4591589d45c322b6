import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';

/** A key, and what it may do. */
export interface LimitedKey {
  requestsPerMinute: number;
  requestsPerDay: number;
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
