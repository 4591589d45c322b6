import type { Sql } from '../db/client.ts';
import { isHeld, leaseEnd } from '../db/lease.ts';
import { toStorableJson } from '../lib/storable-json.ts';

/** The scope in which an Idempotency-Key is unique. */
export interface IdempotencyScope {
  accountId: string;
  live: boolean;
  method: string;
  path: string;
  key: string;
}

/** A claim of a key: it counts while `id` is the key's latest claim, and has no response. */
export interface HeldClaim extends IdempotencyScope {
  id: string;
}

export interface StoredResponse {
  requestSha256: Buffer;
  status: number;
  body: unknown;
}

/**
 * Claims a key for the caller: a new one, or one left by a process that died. Returns true when the caller has the
 * claim. The claim holds for `seconds` unless it is extended.
 */
export async function insertClaim(
  sql: Sql,
  { id, ...scope }: HeldClaim,
  seconds: number,
): Promise<boolean> {
  const claimed = await sql`
    insert into idempotency_keys (account_id, live, method, path, key, claim, claimed_until)
    values (${scope.accountId}, ${scope.live}, ${scope.method}, ${scope.path}, ${scope.key},
      ${id}, ${leaseEnd(sql, seconds)})
    on conflict (account_id, live, method, path, key) do update
      set claim = excluded.claim, claimed_until = excluded.claimed_until
      where idempotency_keys.status is null
        and not ${isHeld(sql, sql`idempotency_keys.claimed_until`, seconds)}
    returning claim`;
  return claimed.length > 0;
}

/** Returns the stored response of a key; null while it is claimed and has none. */
export async function findResponse(
  sql: Sql,
  scope: IdempotencyScope,
): Promise<StoredResponse | null> {
  const [response] = await sql<StoredResponse[]>`
    select request_sha256, status, body from idempotency_keys
    where ${isOf(sql, scope)} and status is not null`;
  return response ?? null;
}

/** Extends a claim that is still held. */
export async function extendClaim(sql: Sql, claim: HeldClaim, seconds: number): Promise<void> {
  await sql`
    update idempotency_keys
    set claimed_until = ${leaseEnd(sql, seconds)}
    where ${isHeldBy(sql, claim)}`;
}

/**
 * Stores the response of a claim, in the transaction of its work; it is kept for a day from now, less a minute: the row of a
 * quick request keeps its time, and so its places in the indexes. False when the claim was lost.
 */
export async function storeResponse(
  sql: Sql,
  claim: HeldClaim,
  response: StoredResponse,
): Promise<boolean> {
  const stored = await sql`
    update idempotency_keys
    set request_sha256 = ${response.requestSha256}, status = ${response.status},
      body = ${toStorableJson(response.body)}::text::json,
      created_at = greatest(created_at, clock_timestamp() - interval '1 minute')
    where ${isHeldBy(sql, claim)} returning claim`;
  return stored.length > 0;
}

/** Releases a claim, so that the same key can be sent again at once. */
export async function deleteClaim(sql: Sql, claim: HeldClaim): Promise<void> {
  await sql`delete from idempotency_keys where ${isHeldBy(sql, claim)}`;
}

/** The condition that the claim counts. It finds the row by its key, because claims have no index. */
function isHeldBy(sql: Sql, { id, ...scope }: HeldClaim): ReturnType<Sql> {
  return sql`${isOf(sql, scope)} and claim = ${id} and status is null`;
}

function isOf(sql: Sql, { accountId, live, method, path, key }: IdempotencyScope): ReturnType<Sql> {
  return sql`account_id = ${accountId} and live = ${live} and method = ${method} and path = ${path} and key = ${key}`;
}

/** Deletes keys with responses older than a day, and claims that are no longer held. */
export async function deleteOldKeys(sql: Sql): Promise<void> {
  await sql`
    delete from idempotency_keys
    where created_at < now() - interval '24 hours'
      and (status is not null or claimed_until < clock_timestamp())`;
}

/**
 * Clears the stored responses about these people. Their ids stay, because a replay checks them against opt-outs.
 * Returns the number of responses.
 */
export async function forgetPeople(
  sql: Sql,
  live: boolean,
  personIds: readonly number[],
): Promise<number> {
  // Waits for those that a transaction has just stored, which the next statement sees.
  await sql`select from idempotency_keys where live = ${live} and status is null for share`;
  const forgotten = await sql`
    update idempotency_keys set body = jsonb_set(body::jsonb, '{answer}', '{}')::json
    where live = ${live} and exists (
      select from unnest(${[...personIds]}::bigint[]) p (id)
      where (body -> 'people')::jsonb @> to_jsonb(p.id))
    returning 1`;
  return forgotten.length;
}
