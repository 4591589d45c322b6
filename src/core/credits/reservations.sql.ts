/**
 * Reservations: credits that a chunk has set aside from the wallet and not spent. Each function returns CTEs for a
 * statement that also changes the batch and the chunk, and reads what it needs of them from CTEs of the caller.
 * The caller locks batch and chunk; the locks here follow in the order reservation -> wallet -> budget of a key.
 */
import type { Sql } from '../db/client.ts';
import { budgetRows, spendToday } from './key-budgets.sql.ts';

/** The result of a request for a reservation. */
export interface Reserved {
  /** Matches that wallet, key and the batch's own limit can pay, from 0 to all requested. */
  granted: number;
  /** The limit that prevented the rest: wallet, key or the batch's own; null when all fit. */
  limitedBy: 'insufficient_credits' | 'key_budget' | 'max_credits' | null;
  reservationId: number | null;
}

/**
 * CTE `reserved (granted, amount, limited_by, reservation_id)`: reserves the price of as many matches as the batch's own
 * limit, the wallet and the key's budget of the day can pay. Empty when `payer` is empty.
 *
 * The caller's CTE `payer (account_id, key_id, batch_id, chunk_id, epoch, headroom)` has at most one row, locked; `headroom`
 * is what is left of the batch's own limit, null for no limit.
 */
export function reserveCredits(
  sql: Sql,
  { matches, price }: { matches: number; price: number },
): ReturnType<Sql> {
  // Wallet and budget are locked in this order, and read under their locks.
  return sql`
    wallet as (
      select balance, reserved, balance - reserved as available from wallets
      where account_id = (select account_id from payer) for update),
    ${budgetRows(sql, sql`select key_id from payer`, sql`(select count(*) from wallet) > 0`)},
    budget as (
      select k.credits_of, b.credits_per_day - c.taken as left_today
      from api_keys k join budget_row b on b.key_id = k.id join budget_row c on c.key_id = k.credits_of
      where k.id = (select key_id from payer)),
    -- Matches that each limit can pay; all requested ones when it is not set.
    payable as (
      select payer.*, credits_of,
        greatest(0, least(${matches}::bigint, headroom / ${price}::bigint)) as by_limit,
        greatest(0, least(${matches}::bigint, available / ${price}::bigint)) as by_wallet,
        greatest(0, least(${matches}::bigint, left_today / ${price}::bigint)) as by_key
      from payer cross join wallet left join budget on true),
    decided as (
      select *, least(by_limit, by_wallet, by_key) as granted,
        least(by_limit, by_wallet, by_key) * ${price}::bigint as amount
      from payable),
    -- Both values are those that were read under the lock: Postgres checks constraints on the row of the snapshot first.
    paying as (
      update wallets w set balance = wallet.balance, reserved = wallet.reserved + d.amount
      from decided d cross join wallet where w.account_id = d.account_id and d.granted > 0),
    spent as (
      update key_budgets b set ${spendToday(sql, { calls: sql`0`, batches: sql`d.amount` })}
      from decided d where b.key_id = d.credits_of and d.granted > 0
      returning b.day),
    reservation as (
      insert into reservations (account_id, batch_id, chunk_id, epoch, amount, budget_day)
      select account_id, batch_id, chunk_id, epoch, amount, (select day from spent)
      from decided where granted > 0
      returning id),
    reserved as (
      select granted, amount, reservation.id as reservation_id, case
          when granted = ${matches} then null
          -- Only its owner can raise the batch's own limit: credits alone would not resume it.
          when granted = by_limit then 'max_credits'
          when granted = by_wallet then 'insufficient_credits'
          else 'key_budget' end as limited_by
      from decided left join reservation on true)`;
}

/** A reservation under the epoch of the claim that made it. The id is null when nothing is paid. */
export interface HeldReservation {
  reservationId: number | null;
  epoch: number;
}

/** Condition: the reservation is open, or there is none to settle. */
export function isOpen(sql: Sql, { reservationId, epoch }: HeldReservation): ReturnType<Sql> {
  return sql`(${reservationId}::bigint is null or exists (
    select from reservations where id = ${reservationId} and epoch = ${epoch} and state = 'open'))`;
}

/**
 * CTE `settled (account_id, batch_id, amount)`: turns the reservation into a charge with one ledger line. Empty
 * when there is none, or it is not open under this epoch. `reference` is unique within the account and has no
 * epoch: no retry can charge it a second time. The caller's CTE `chunk (id)` is the chunk that it was made for.
 */
export function settleReservation(
  sql: Sql,
  charge: HeldReservation & {
    reference: string;
    operation: string;
    units: number;
    keyId: string;
  },
): ReturnType<Sql> {
  return sql`
    settled as (
      update reservations r set state = 'settled', ended_at = clock_timestamp()
      from chunk
      where r.id = ${charge.reservationId} and r.chunk_id = chunk.id and r.state = 'open'
        and r.epoch = ${charge.epoch}
      returning r.account_id, r.batch_id, r.amount),
    wallet as (
      update wallets w set balance = w.balance - r.amount, reserved = w.reserved - r.amount
      from settled r where w.account_id = r.account_id returning w.account_id),
    line as (
      insert into ledger_entries (account_id, reference, kind, amount, operation, units, batch_id, key_id)
      select r.account_id, ${charge.reference}, 'charge', -r.amount, ${charge.operation},
        ${charge.units}, r.batch_id, ${charge.keyId}
      from settled r join wallet using (account_id))`;
}

/**
 * CTE `voided (account_id, batch_id, amount, budget_day)`: returns the credits of open reservations. Wallets are
 * locked in the order of their ids, as single calls lock them. The caller's CTEs: `chunk (id)`, the chunks of
 * these reservations, and `payer (batch_id, key_id)`, the keys that their batches count against.
 */
export function voidReservations(sql: Sql): ReturnType<Sql> {
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
        from voided join payer using (batch_id) join api_keys a on a.id = payer.key_id
        group by a.credits_of, voided.budget_day) v
      -- A past day needs nothing back. The wallets come first.
      where k.key_id = v.credits_of and k.day = v.budget_day and (select count(*) from wallet) > 0)`;
}

/** Query of `(batch_id, chunk_id, epoch, amount)`: the open reservations. */
export function openReservations(sql: Sql): ReturnType<Sql> {
  return sql`select batch_id, chunk_id, epoch, amount from reservations where state = 'open'`;
}
