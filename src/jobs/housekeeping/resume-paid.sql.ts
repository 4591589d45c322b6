/** Statements that resume batches automatically. */
import { joinSpendable, shortage } from '../../core/credits/spendable.sql.ts';
import type { Sql } from '../../core/db/client.ts';

/**
 * Resumes the batches that wait for credits when the wallet and the key's daily budget can pay for a row again;
 * updates the reason of those that keep waiting. `price` gives the credits of one match of each operation.
 * Batches of one key and operation share their shortage: one is read for all of them, and only batches that
 * change are locked.
 */
export async function resumePaidBatches(
  sql: Sql,
  prices: readonly { operation: string; price: number }[],
): Promise<string[]> {
  const isShort = sql`state = 'paused' and reason in ('insufficient_credits', 'key_budget')`;
  const first = sql`select account_id, key_id, operation, reason from batches where ${isShort}`;
  const inOrder = sql`order by account_id, key_id, operation, reason limit 1`;
  const resumed = await sql<{ id: string }[]>`
    with recursive short as (
      (${first} ${inOrder})
      union all
      select next.* from short cross join lateral (
        ${first} and (account_id, key_id, operation, reason)
          > (short.account_id, short.key_id, short.operation, short.reason)
        ${inOrder}) next),
    -- First finds the keys that can pay, then their lists: a join would read every list that is short.
    changed as materialized (
      select s.*, now_short.reason as now_reason
      from short s
      join unnest(
        ${prices.map((p) => p.operation)}::text[], ${prices.map((p) => p.price)}::bigint[]
      ) p (operation, price) on p.operation = s.operation
      join api_keys k on k.id = s.key_id ${joinSpendable(sql)}
      cross join lateral (select ${shortage(sql, sql`p.price`)} as reason) now_short
      where now_short.reason is distinct from s.reason),
    -- Forces lookups by key and by id, whatever number of rows the planner expects.
    found as materialized (
      select b.id, c.now_reason as reason from changed c cross join lateral (
        select id from batches
        where account_id = c.account_id and key_id = c.key_id and operation = c.operation
          and reason = c.reason and ${isShort} offset 0) b),
    waiting as (
      select id, (select reason from found where found.id = batches.id) as reason from batches
      where id = any(array(select id from found)) and ${isShort}
      order by id for update),
    batch as (
      update batches b set reason = waiting.reason,
        state = case when waiting.reason is null then 'running' else b.state end
      from waiting where b.id = waiting.id and b.reason is distinct from waiting.reason
      returning b.id, b.state),
    resumed as (select id from batch where state = 'running'),
    chunk as (
      update chunks set state = 'pending', epoch = epoch + 1, dispatched_at = null
      from resumed where chunks.batch_id = resumed.id and chunks.state = 'dispatched')
    select id from resumed`;
  return resumed.map((row) => row.id);
}
