/** Reservations: credits that a chunk has taken from the wallet and not spent. */
import type { Sql } from '../db/client.ts';

/**
 * Voids the open reservations of the rows of a CTE `chunk`, giving the credits back: CTE `voided`. Wallets
 * are locked in the order of their ids, as single calls lock them.
 */
export function voidReservations(sql: Sql) {
  return sql`
    voided as (
      update reservations r set state = 'voided', ended_at = clock_timestamp()
      from chunk where r.chunk_id = chunk.id and r.state = 'open'
      returning r.account_id, r.batch_id, r.amount, r.budget_day),
    locked as (
      select account_id from wallets
      where account_id in (select account_id from voided) order by account_id for update),
    wallet as (
      update wallets w set reserved = w.reserved - v.amount
      from (select account_id, sum(amount)::bigint as amount from voided group by account_id) v
      where w.account_id = v.account_id and (select count(*) from locked) > 0
      returning w.account_id),
    budget as (
      update key_budgets k set spent_by_batches = k.spent_by_batches - v.amount
      from (
        select a.credits_of, voided.budget_day, sum(voided.amount)::bigint as amount
        from voided join batches b on b.id = voided.batch_id join api_keys a on a.id = b.key_id
        group by a.credits_of, voided.budget_day) v
      -- A day that is over needs nothing back. The wallets come first.
      where k.key_id = v.credits_of and k.day = v.budget_day and (select count(*) from wallet) > 0)`;
}

/** Query of `(batch_id, chunk_id, epoch, amount)`: the open reservations. */
export function openReservations(sql: Sql): ReturnType<Sql> {
  return sql`select batch_id, chunk_id, epoch, amount from reservations where state = 'open'`;
}
