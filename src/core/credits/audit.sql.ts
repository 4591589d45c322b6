/** Invariants of wallets, ledger, reservations and key budgets, as counts of violations. */
import type { Sql } from '../db/client.ts';

/**
 * Returns for each invariant the number of rows that violate it. `prices` are those of all ledger lines: none has
 * changed yet, and one that does needs the day of its change. `payers` is a query of `(batch_id, key_id)`: the
 * keys that batches count against.
 */
export async function countCreditViolations(
  sql: Sql,
  prices: readonly { operation: string; price: number }[],
  payers: ReturnType<Sql>,
): Promise<{ name: string; violations: number }[]> {
  return sql<{ name: string; violations: number }[]>`
    with price as (
      select * from unnest(
        ${prices.map((p) => p.operation)}::text[], ${prices.map((p) => p.price)}::bigint[]
      ) p (operation, price)),
    payer as (${payers}),
    ledger as (
      select account_id, sum(amount)::bigint as total from ledger_entries group by account_id),
    open as (
      select account_id, sum(amount)::bigint as total from reservations where state = 'open'
      group by account_id),
    taken as (
      select a.credits_of as key_id, r.budget_day as day, sum(r.amount)::bigint as total
      from reservations r join payer using (batch_id) join api_keys a on a.id = payer.key_id
      where r.state <> 'voided' and r.budget_day is not null group by 1, 2),
    charged as (${batchCharges(sql)})
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
    select 'every person that an account owns was paid for by a charge of the account',
      count(*) filter (where l.id is null)::int
      from owned_people o
        left join ledger_entries l on l.id = o.charge_id and l.account_id = o.account_id and l.kind = 'charge'
    union all
    select 'no charge paid for more people than it has units',
      count(*)::int from (
        select l.id from owned_people o join ledger_entries l on l.id = o.charge_id
        group by l.id having count(*) > l.units) d
    union all
    select 'every settled reservation has its ledger line',
      count(*)::int from (
        select r.batch_id, sum(r.amount)::bigint as settled from reservations r
        where r.state = 'settled' group by r.batch_id) s
      left join charged c on c.batch_id = s.batch_id where s.settled <> coalesce(c.amount, 0)`;
}

/** Query of `(batch_id, amount, units)`: the credits and the matches that each batch was charged for. */
export function batchCharges(sql: Sql): ReturnType<Sql> {
  return sql`
    select batch_id, -sum(amount)::bigint as amount, sum(units)::bigint as units
    from ledger_entries where kind = 'charge' and batch_id is not null group by batch_id`;
}

/** Returns for each account with references of charges the credits that its ledger has under them, in the same order. */
export async function sumCharges(
  sql: Sql,
  wanted: readonly { accountId: string; references: readonly string[] }[],
): Promise<number[]> {
  const flat = wanted.flatMap(({ accountId, references }, index) =>
    references.map((reference) => ({ index, accountId, reference })),
  );
  const rows = await sql<{ index: number; credits: number }[]>`
    select w.index, -sum(l.amount)::bigint as credits
    from unnest(
      ${flat.map(({ index }) => index)}::int[], ${flat.map(({ accountId }) => accountId)}::uuid[],
      ${flat.map(({ reference }) => reference)}::text[]) w (index, account_id, reference)
    join ledger_entries l using (account_id, reference)
    where l.kind = 'charge' group by w.index`;
  const found = new Map(rows.map(({ index, credits }) => [index, credits]));
  return wanted.map((_, index) => found.get(index) ?? 0);
}
