import type { Sql } from '../db/client.ts';

/** What an Idempotency-Key is valid for. */
export interface IdempotencyScope {
  accountId: string;
  live: boolean;
  method: string;
  path: string;
  key: string;
}

export interface StoredAnswer {
  requestSha256: Buffer;
  status: number;
  body: unknown;
}

/**
 * Claims a key for the caller: new, or left behind by a process that died. Returns true when the claim
 * is the caller's. The claim holds for `seconds` unless it is extended.
 */
export async function insertClaim(
  sql: Sql,
  scope: IdempotencyScope,
  claim: string,
  seconds: number,
): Promise<boolean> {
  const claimed = await sql`
    insert into idempotency_keys (account_id, live, method, path, key, claim, claimed_until)
    values (${scope.accountId}, ${scope.live}, ${scope.method}, ${scope.path}, ${scope.key},
      ${claim}, clock_timestamp() + make_interval(secs => ${seconds}))
    on conflict (account_id, live, method, path, key) do update
      set claim = excluded.claim, claimed_until = excluded.claimed_until
      where idempotency_keys.status is null
        and idempotency_keys.claimed_until < clock_timestamp()
    returning claim`;
  return claimed.length > 0;
}

/** The stored answer of a key, or null while it is claimed and not answered. */
export async function findAnswer(sql: Sql, scope: IdempotencyScope): Promise<StoredAnswer | null> {
  const [answer] = await sql<StoredAnswer[]>`
    select request_sha256, status, body from idempotency_keys
    where account_id = ${scope.accountId} and live = ${scope.live} and method = ${scope.method}
      and path = ${scope.path} and key = ${scope.key} and status is not null`;
  return answer ?? null;
}

/** Keeps a claim that is still held. */
export async function extendClaim(sql: Sql, claim: string, seconds: number): Promise<void> {
  await sql`
    update idempotency_keys
    set claimed_until = clock_timestamp() + make_interval(secs => ${seconds})
    where claim = ${claim} and status is null`;
}

/** Stores the answer of a claim, in the transaction of what it answers. False when it was lost. */
export async function storeAnswer(sql: Sql, claim: string, answer: StoredAnswer): Promise<boolean> {
  const stored = await sql`
    update idempotency_keys
    set request_sha256 = ${answer.requestSha256}, status = ${answer.status},
      body = ${sql.json(answer.body as never)}
    where claim = ${claim} and status is null returning claim`;
  return stored.length > 0;
}

/** Gives a claim up, so that the same key may be sent again at once. */
export async function deleteClaim(sql: Sql, claim: string): Promise<void> {
  await sql`delete from idempotency_keys where claim = ${claim} and status is null`;
}

/** Forgets keys older than a day. */
export async function deleteOldKeys(sql: Sql): Promise<void> {
  await sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`;
}

/**
 * Takes the answers about these people out of the kept ones; who sent the key again is asked about anew.
 * The ids stay, because a replay asks by them who opted out. Returns how many answers that were.
 */
export async function forgetPeople(
  sql: Sql,
  live: boolean,
  personIds: readonly number[],
): Promise<number> {
  const forgotten = await sql`
    update idempotency_keys set body = jsonb_set(body, '{answer}', '{}')
    where live = ${live} and exists (
      select from unnest(${[...personIds]}::bigint[]) p (id)
      where body -> 'people' @> to_jsonb(p.id))
    returning 1`;
  return forgotten.length;
}
