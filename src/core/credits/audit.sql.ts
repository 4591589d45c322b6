/** What must hold of money, as counts of what breaks it. */
import type { Sql } from '../db/client.ts';

/**
 * The invariants of money: for each the number of rows that break it. `prices` are those of all lines that
 * there are: none has changed yet, and one that does needs the day from which it counts.
 */
export async function countViolations(
  sql: Sql,
  prices: readonly { operation: string; price: number }[],
): Promise<{ name: string; violations: number }[]> {
  return sql<{ name: string; violations: number }[]>`
    with price as (
      select * from unnest(
        ${prices.map((p) => p.operation)}::text[], ${prices.map((p) => p.price)}::bigint[]
      ) p (operation, price)),
    ledger as (
      select account_id, sum(amount)::bigint as total from ledger_entries group by account_id),
    open as (
      select account_id, sum(amount)::bigint as total from reservations where state = 'open'
      group by account_id),
    open_by_batch as (
      select batch_id, sum(amount)::bigint as total from reservations where state = 'open'
      group by batch_id),
    taken as (
      select a.credits_of as key_id, r.budget_day as day, sum(r.amount)::bigint as total
      from reservations r join batches b on b.id = r.batch_id join api_keys a on a.id = b.key_id
      where r.state <> 'voided' and r.budget_day is not null group by 1, 2),
    charged as (
      select batch_id, -sum(amount)::bigint as total, sum(units)::bigint as units
      from ledger_entries where kind = 'charge' and batch_id is not null group by batch_id)
    select 'the ledger of every account sums to its balance' as name,
      count(*) filter (where w.balance <> coalesce(l.total, 0))::int as violations
      from wallets w left join ledger l using (account_id)
    union all
    select 'every charge is the price of its matches',
      count(*) filter (where -l.amount is distinct from l.units * p.price)::int
      from ledger_entries l left join price p using (operation) where l.kind = 'charge'
    union all
    select 'every wallet holds 0 <= reserved <= balance',
      count(*) filter (where not (0 <= reserved and reserved <= balance))::int from wallets
    union all
    select 'every wallet reserves what its open reservations hold',
      count(*) filter (where w.reserved <> coalesce(o.total, 0))::int
      from wallets w left join open o using (account_id)
    union all
    select 'the day of every key holds what its batches reserved and were charged',
      count(*) filter (where k.spent_by_batches <> coalesce(t.total, 0))::int
      from key_budgets k left join taken t on t.key_id = k.key_id and t.day = k.day
    union all
    select 'every batch reserves what its open reservations hold',
      count(*) filter (where b.credits_reserved <> coalesce(o.total, 0))::int
      from batches b left join open_by_batch o on o.batch_id = b.id
    union all
    select 'every batch charged what its ledger lines say',
      count(*) filter (where b.credits_charged <> coalesce(c.total, 0))::int
      from batches b left join charged c on c.batch_id = b.id
    union all
    select 'every live batch charged exactly its matched rows, a test batch none',
      count(*) filter (
        where coalesce(c.units, 0) <> case when b.live then b.matched else 0 end)::int
      from batches b left join charged c on c.batch_id = b.id
    union all
    select 'no ended batch holds a reservation',
      count(*)::int
      from reservations r join batches b on b.id = r.batch_id
      where r.state = 'open' and b.state in ('completed', 'cancelled', 'failed')
    union all
    select 'every open reservation belongs to a chunk under lease, with its epoch',
      count(*)::int
      from reservations r join chunks c on c.id = r.chunk_id
      where r.state = 'open' and not (c.state = 'leased' and c.epoch = r.epoch)
    union all
    select 'the outcomes of every completed batch add up to its rows',
      count(*) filter (where rows_total <> matched + no_match + ambiguous + invalid + suppressed
        + duplicate + error_rows + not_processed)::int
      from batches where state = 'completed'
    union all
    select 'the parts of every chunk hold the rows that it has done',
      count(*)::int from (
        select c.id from chunks c
        left join parts p on p.batch_id = c.batch_id and p.chunk_number = c.number
        group by c.id having c.rows_done <> coalesce(sum(p.rows), 0) or c.parts <> count(p.k)) d
    union all
    select 'no stored object was damaged or missing when it was last read',
      coalesce(sum(objects_damaged), 0)::int from batches where files_deleted_at is null
    union all
    select 'every settled reservation has its ledger line',
      count(*)::int from (
        select r.batch_id, sum(r.amount)::bigint as settled from reservations r
        where r.state = 'settled' group by r.batch_id) s
      left join charged c on c.batch_id = s.batch_id where s.settled <> coalesce(c.total, 0)`;
}
