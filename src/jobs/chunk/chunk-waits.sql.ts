/**
 * Waiting batches, whose chunks are not claimed for a while: storage or database failed, or their key has used
 * up its rows per minute. They are not in the index that claims read, so any number of them costs claims
 * nothing. Locks are taken in the order batch -> chunk -> wait of a key; later ones are skipped while another
 * transaction holds them.
 */
import type { Sql } from '../../core/db/client.ts';
import { retryPause } from '../batch/lease.sql.ts';

/** Maximum batches that one tick resumes after a timed wait. */
const RESUMED_MAX = 1_000;
/** Maximum keys, and batches per key, that one tick resumes. */
const KEYS_MAX = 200;
const BATCHES_OF_KEY_MAX = 100;

/**
 * Makes a batch wait that runs, or is being cancelled: the rows of that are written too. Call in the transaction that released
 * the chunk that could not run.
 */
export async function waitForTime(sql: Sql, batchId: string, seconds: number): Promise<void> {
  await sql`
    with waiting as (
      update batches set waits_for = 'time',
        claim_after = ${retryPause.end(sql, seconds)}
      where id = ${batchId} and state in ('running', 'cancelling') returning id),
    ${takeBackWakeUps(sql)}
    select id from waiting`;
}

/**
 * Makes all batches of a running batch's key wait: each would be refused in the same way. Those being cancelled
 * continue, because their rows are not looked up. Call in the transaction that released the chunk.
 */
export async function waitForKey(
  sql: Sql,
  { batchId, keyId, seconds }: { batchId: string; keyId: string; seconds: number },
): Promise<void> {
  await sql`
    insert into key_waits (key_id, claim_after)
    values (${keyId}, ${retryPause.end(sql, seconds)})
    on conflict (key_id) do update set claim_after = excluded.claim_after`;
  await sql`
    with claimable as (
      select id from batches
      where claimable_account = (select account_id from batches where id = ${batchId})
        and key_id = ${keyId} and state in ('queued', 'running')
      for update skip locked),
    waiting as (
      update batches set waits_for = 'key' from claimable
      where batches.id = claimable.id returning batches.id),
    ${takeBackWakeUps(sql)}
    select id from waiting`;
}

/** CTE: makes dispatched chunks of the CTE `waiting` pending again. */
function takeBackWakeUps(sql: Sql) {
  return sql`
    chunk as (
      update chunks set state = 'pending', epoch = epoch + 1, dispatched_at = null
      where id in (
        select c.id from chunks c
        where c.batch_id in (select id from waiting) and c.state = 'dispatched'
        -- Sweeps and claims lock several chunks in another order.
        for update skip locked))`;
}

/**
 * Ends the waits that are over. For a key, resumes as many of its oldest batches as contain the rows of a
 * minute, and at least one: the others would be refused again. Call in a transaction.
 */
export async function endWaits(sql: Sql): Promise<void> {
  await sql`
    update batches set waits_for = null
    where id in (
      select id from batches where waits_for = 'time' and not ${retryPause.lasts(sql, sql`claim_after`)}
      order by claim_after limit ${RESUMED_MAX} for update skip locked)`;
  // Under the lock no batch begins to wait for the key, so the next statement sees all that do.
  const due = await sql<{ keyId: string }[]>`
    select key_id from key_waits where not ${retryPause.lasts(sql, sql`claim_after`)}
    order by claim_after limit ${KEYS_MAX} for update skip locked`;
  if (due.length === 0) return;
  await sql`
    with due as (select unnest(${due.map(({ keyId }) => keyId)}::uuid[]) as key_id),
    fitting as (
      select b.id
      from due join api_keys k on k.id = due.key_id cross join lateral (
        select id, sum(rows_total) over (
          order by created_at, id rows between unbounded preceding and 1 preceding) as rows_before
        from (
          select id, created_at, rows_total from batches
          where key_id = due.key_id and waits_for = 'key'
          order by created_at, id limit ${BATCHES_OF_KEY_MAX}) oldest) b
      where b.rows_before is null or k.rows_per_minute is null
        or b.rows_before < k.rows_per_minute),
    resumed as (
      select id from batches
      where id in (select id from fitting) and waits_for = 'key' for update skip locked),
    batch as (
      update batches set waits_for = null, claim_after = clock_timestamp()
      from resumed where batches.id = resumed.id)
    delete from key_waits k using due
    where k.key_id = due.key_id and not exists (
      select from batches where key_id = due.key_id and waits_for = 'key'
        and id not in (select id from resumed))`;
}
