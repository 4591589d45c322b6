/** Maximum credits that keys may spend in a UTC day. */
import { inTransaction, type Sql } from '../db/client.ts';

/** Main statement: stores the maximum of the key in the caller's CTE `key (id)`, unless it is null. */
export function insertBudget(sql: Sql, creditsPerDay: number | null): ReturnType<Sql> {
  return sql`
    insert into key_budgets (key_id, credits_per_day)
    select id, ${creditsPerDay}::bigint from key where ${creditsPerDay}::bigint is not null`;
}

/**
 * Sets the maximum spending of a key in a UTC day, from now on; null removes it. A lower maximum also binds the
 * keys that this key created, since they share its counters. Locks them in the order in which charges do. The key that counts
 * its spending gets a row too: a key that was rolled counts on one that may have had no maximum, and nothing would be counted.
 */
export async function setCreditsPerDay(
  sql: Sql,
  id: string,
  creditsPerDay: number | null,
): Promise<void> {
  await sql`
    with locked as materialized (
      select b.key_id from key_budgets b
      where b.key_id in (select k.id from api_keys k where k.id = ${id} or k.credits_of = ${id})
      order by b.key_id for update),
    made as (
      update key_budgets b set credits_per_day = least(b.credits_per_day, ${creditsPerDay}::bigint)
      from locked where b.key_id = locked.key_id and b.key_id <> ${id}),
    counting as (
      insert into key_budgets (key_id)
      select credits_of from api_keys where id = ${id} and credits_of <> ${id}
      on conflict do nothing)
    insert into key_budgets (key_id, credits_per_day)
    select ${id}::uuid, ${creditsPerDay}::bigint from (select count(*) from locked) l
    on conflict (key_id) do update set credits_per_day = excluded.credits_per_day`;
}

/** Expression: the maximum of the key `k`, a row of `api_keys`; null for none. */
export function creditsPerDay(sql: Sql): ReturnType<Sql> {
  return sql`(select credits_per_day from key_budgets where key_id = k.id)`;
}

/** Expression: `candidate` if it may spend less in a day than the key `present`, which it is otherwise. */
export function tighterKey(sql: Sql, candidate: string, present: ReturnType<Sql>): ReturnType<Sql> {
  return sql`
    coalesce((
      select tight.key_id from key_budgets tight left join key_budgets loose on loose.key_id = ${present}
      where tight.key_id = ${candidate} and tight.credits_per_day is not null
        and (loose.credits_per_day is null or tight.credits_per_day < loose.credits_per_day)),
      ${present})`;
}

/**
 * CTE `budget_row`: the budgets of these keys, locked in the order of their ids once `after` is true. The row of a
 * key has its maximum; the amount that counts against it is `taken` in the row of its `credits_of`.
 */
export function budgetRows(sql: Sql, keys: ReturnType<Sql>, after: ReturnType<Sql>) {
  return sql`
    budget_row as (
      -- As of after the lock, so two statements never spend the same credit.
      select b.key_id, b.credits_per_day, credits_taken_today(b) as taken from key_budgets b
      where b.key_id in (
          select unnest(array[k.id, k.credits_of]) from api_keys k where k.id in (${keys}))
        and ${after}
      order by b.key_id for update)`;
}

/** Assignments of a row `key_budgets b` when calls or batches spend from it today. */
export function spendToday(sql: Sql, by: { calls: ReturnType<Sql>; batches: ReturnType<Sql> }) {
  return sql`
    day = greatest(b.day, utc_today()),
    spent = case when b.day >= utc_today() then b.spent else 0 end + ${by.calls},
    spent_by_batches =
      case when b.day >= utc_today() then b.spent_by_batches else 0 end + ${by.batches}`;
}

/**
 * CTE `uncounted`: takes the refund of the CTE `line (account_id, amount)` from what counts against the key of the CTE `charge`,
 * a row of the ledger, while its day lasts. What a batch was charged stays counted: it was reserved for that day.
 */
export function uncountRefund(sql: Sql): ReturnType<Sql> {
  return sql`
    uncounted as (
      -- A charge from before the key had a maximum was not counted.
      update key_budgets b set spent = greatest(0, b.spent - line.amount)
      from charge join line using (account_id) join api_keys k on k.id = charge.key_id
      where b.key_id = k.credits_of and charge.batch_id is null
        and b.day = (charge.created_at at time zone 'UTC')::date)`;
}

/**
 * Lets budgets of a day that has not come yet end with today: they were spent before the clock was set back, and would not
 * begin again until that day. So do the reservations of that day; those of other days to come belong to no day any more.
 * A key with an open reservation is left for the next call: what voids it locks it before the budget, and returns its
 * credits to the day that it read. `payers` is a query of `(batch_id, key_id)`: the keys that batches count against.
 */
export async function endFutureDays(sql: Sql, payers: ReturnType<Sql>): Promise<void> {
  const isLate = sql`day > utc_today() + 1`;
  const found = await sql`select from key_budgets where ${isLate}`;
  // Reservations are many: they are read for such a day alone.
  if (found.length === 0) return;
  await inTransaction(sql, async (tx) => {
    // Nothing is reserved under these locks, so the next statement sees all reservations.
    await tx`select from key_budgets where ${isLate} order by key_id for update`;
    await tx`
      with payer as (${payers}),
      taken as (
        select r.id, late.key_id, r.amount, r.state, r.budget_day in (late.day, utc_today()) as is_today
        from key_budgets late join api_keys a on a.credits_of = late.key_id join payer on payer.key_id = a.id
          join reservations r using (batch_id)
        where late.${isLate} and r.budget_day >= utc_today()),
      ending as (
        select key_id from key_budgets where ${isLate}
          and key_id not in (select key_id from taken where state = 'open')),
      moved as (
        update reservations r set budget_day = case when is_today then utc_today() end
        from taken join ending using (key_id) where r.id = taken.id)
      update key_budgets k set day = utc_today(), spent_by_batches = coalesce((
        select sum(amount)::bigint from taken
        where taken.key_id = k.key_id and is_today and state <> 'voided'), 0)
      from ending where k.key_id = ending.key_id`;
  });
}
