/** Statements that find what nothing takes on by itself. */
import type { Sql } from '../../../core/db/client.ts';

/** The job that takes a batch on from a state in which nothing else will. */
export type BatchJob = 'split-batch' | 'finish-batch' | 'quote-batch';

/** Batches that wait for a split, a quote or their end, oldest first, with the job they wait for. */
export async function listUnattended(
  sql: Sql,
  olderThanSeconds: number,
): Promise<{ id: string; traceParent: string | null; job: BatchJob }[]> {
  return sql<{ id: string; traceParent: string | null; job: BatchJob }[]>`
    select id, trace_parent, case when state = 'ready' then 'quote-batch'
      when chunks_total is null then 'split-batch' else 'finish-batch' end as job
    from batches
    where (state in ('created', 'validating', 'finalizing')
        or (state = 'cancelling' and (chunks_total is null or chunks_done = chunks_total))
        or (state = 'ready' and quote ->> 'state' = 'running'))
      and created_at < now() - make_interval(secs => ${olderThanSeconds})
    order by created_at limit 100`;
}

/**
 * Resumes the batches that wait for credits, where the wallet and the key's day can pay for a row again;
 * those that go on waiting say for what. `price` gives the credits of one match of each operation.
 */
export async function resumePaidBatches(
  sql: Sql,
  prices: readonly { operation: string; price: number }[],
): Promise<string[]> {
  const resumed = await sql<{ id: string }[]>`
    with waiting as (
      select b.id, case when w.balance - w.reserved < p.price then 'insufficient_credits'
          when credits_left_today(k) < p.price then 'key_budget' end as reason
      from batches b
      join wallets w on w.account_id = b.account_id
      join unnest(
        ${prices.map((p) => p.operation)}::text[], ${prices.map((p) => p.price)}::bigint[]
      ) p (operation, price) on p.operation = b.operation
      left join key_budgets k on k.key_id = b.key_id
      where b.state = 'paused' and b.reason in ('insufficient_credits', 'key_budget')
      order by b.id for update of b),
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
