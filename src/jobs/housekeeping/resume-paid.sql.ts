/** Statements that find what nothing takes on by itself. */
import { joinSpendable, shortage } from '../../core/credits/spendable.sql.ts';
import type { Sql } from '../../core/db/client.ts';

/**
 * Resumes the batches that wait for credits, where the wallet and the key's day can pay for a row again;
 * those that go on waiting say for what. `price` gives the credits of one match of each operation. Batches of
 * one key and operation are short of the same: one is read for all of them, and only those are locked for which
 * something changes.
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
    -- First who can pay, then their lists: joined, every list that is short would be read.
    changed as materialized (
      select s.*, now_short.reason as now_reason
      from short s
      join unnest(
        ${prices.map((p) => p.operation)}::text[], ${prices.map((p) => p.price)}::bigint[]
      ) p (operation, price) on p.operation = s.operation
      join api_keys k on k.id = s.key_id ${joinSpendable(sql)}
      cross join lateral (select ${shortage(sql, sql`p.price`)} as reason) now_short
      where now_short.reason is distinct from s.reason),
    -- By key and by id, whatever number of rows the planner expects.
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
