/**
 * People that an account owns: it paid for them in its last `owned_days` and is not charged for them again, through
 * any operation that delivers the same (`ownedBy`). Every charge locks the wallet first and then reads who is owned
 * by `owned_of`, which sees all charges before it. So two charges never pay for the same person.
 */
import type { Sql } from '../db/client.ts';
import { joinedIds, presentIds } from '../graph/merged-ids.sql.ts';
import { entityCodes } from '../graph/source-entities.ts';
import { type Owned, ownedBy, type PricedOperation } from '../operations.ts';

const codes = { record: 1, mobile: 2 } as const satisfies Record<Owned, number>;

/** Returns the code of what an account owns after paying for the operation; null when it is charged each time. */
export function ownedCode(operation: PricedOperation): number | null {
  const owned = ownedBy(operation);
  return owned === null ? null : codes[owned];
}

/** Sets the days for which a person is not charged again, 0 for none. Returns false for an unknown account. */
export async function setOwnedDays(sql: Sql, accountId: string, days: number): Promise<boolean> {
  const set = await sql`
    update wallets set owned_days = ${days} where account_id = ${accountId} returning account_id`;
  return set.length > 0;
}

/** Returns the days for which a person is not charged again; undefined for an unknown account. */
export async function readOwnedDays(sql: Sql, accountId: string): Promise<number | undefined> {
  const [wallet] = await sql<{ ownedDays: number }[]>`
    select owned_days from wallets where account_id = ${accountId}`;
  return wallet?.ownedDays;
}

/** Expression: the `owned_days` of the expression `accountId`. */
export function ownedDays(sql: Sql, accountId: ReturnType<Sql>): ReturnType<Sql> {
  return sql`(select owned_days from wallets where account_id = ${accountId})`;
}

/** Query of `person_id`: the people whose delivery by the operation would cost the account nothing. */
export function ownedPeople(
  sql: Sql,
  accountId: string,
  operation: PricedOperation,
): ReturnType<Sql> {
  const owned = sql`
    owned_people o join wallets w using (account_id)
    where o.account_id = ${accountId} and o.kind = ${ownedCode(operation)}::smallint
      and o.paid_at > clock_timestamp() - make_interval(days => w.owned_days)`;
  return sql`
    select o.person_id from ${owned}
    union
    select joined_id from ${joinedIds(sql, entityCodes.person, sql`select o.person_id from ${owned}`)} joined`;
}

/** A read of who is owned, in expressions; `ids` is an array of people. */
interface Asked {
  accountId: ReturnType<Sql>;
  kind: ReturnType<Sql>;
  ids: ReturnType<Sql>;
  ownedDays: ReturnType<Sql>;
}

/**
 * Query of `id`: those of the people that the account owns, as `owned_of` reads it. It also owns a person whose record an
 * import has joined with that of a person whom it owns.
 */
export function ownedAmong(sql: Sql, { accountId, kind, ids, ownedDays }: Asked): ReturnType<Sql> {
  return sql`(
    with held (id, paid_id) as (
      select id, id from unnest(${ids}) a (id)
      union all
      select id, joined_id from ${joinedIds(sql, entityCodes.person, sql`select unnest(${ids})`)} joined)
    select distinct held.id from held
      join owned_of(${accountId}, ${kind}, array(select paid_id from held), ${ownedDays}) o (paid_id)
        using (paid_id))`;
}

/** Returns those of the people whose delivery by the operation would cost the account nothing now. */
export async function selectOwned(
  sql: Sql,
  accountId: string,
  operation: PricedOperation,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await sql<{ personId: number }[]>`
    select person_id from (${ownedPeople(sql, accountId, operation)}) o
    where person_id = any(${[...ids]}::bigint[])`;
  return rows.map(({ personId }) => personId);
}

/**
 * CTE `locked_wallet (account_id, owned_days)`: the wallet of the caller's CTE `payer (account_id)`, which has locked batch and
 * chunk; the reservation is locked before it.
 */
export function lockedOwnedDays(
  sql: Sql,
  { payer, reservationId }: { payer: ReturnType<Sql>; reservationId: number | null },
): ReturnType<Sql> {
  return sql`
    locked_reservation as (
      select from reservations
      where id = ${reservationId}::bigint and (select count(*) from ${payer}) > 0 for update),
    locked_wallet as (
      select account_id, owned_days from wallets
      where account_id = (select account_id from ${payer})
        and (select count(*) from locked_reservation) >= 0 for update)`;
}

/**
 * Returns those of the people that the account owns by now, or would own after paying for the others. Locks its wallet until
 * the transaction ends, so that no other charge for them comes in between; `reservationId` is locked before the wallet. The
 * caller's CTE `payer (account_id)` has locked batch and chunk.
 */
export function lockOwned(
  sql: Sql,
  operation: PricedOperation,
  { ids, reservationId }: { ids: readonly number[]; reservationId: number | null },
): ReturnType<Sql> {
  return sql`
    ${lockedOwnedDays(sql, { payer: sql`payer`, reservationId })}
    select o.person_id from locked_wallet
      cross join lateral ${ownedAmong(sql, {
        accountId: sql`account_id`,
        kind: sql`${ownedCode(operation)}::smallint`,
        ids: sql`${[...ids]}::bigint[]`,
        ownedDays: sql`owned_days`,
      })} o (person_id)
    union all
    select min(id) from ${presentIds(sql, entityCodes.person, sql`select unnest(${[...ids]}::bigint[])`)} p
    group by present_id having count(*) > 1`;
}

/** Stores that the account owns these people from now on, by the charge with this reference. */
export async function insertOwned(
  sql: Sql,
  charge: { accountId: string; operation: PricedOperation; reference: string },
  ids: readonly number[],
): Promise<void> {
  await sql`
    with line as (
      select account_id, id from ledger_entries
      where account_id = ${charge.accountId} and reference = ${charge.reference})
    ${ownFrom(
      sql,
      sql`select line.account_id, ${ownedCode(charge.operation)}::smallint, p.id, line.id
        from line cross join unnest(${[...ids]}::bigint[]) p (id)`,
    )}`;
}

/**
 * Main statement: stores the people of the query `(account_id, kind, person_id, charge_id)` as owned from now on; none who opted
 * out since they were matched: their erasure may have ended, and no other one would delete them.
 */
export function ownFrom(sql: Sql, paid: ReturnType<Sql>): ReturnType<Sql> {
  return sql`
    insert into owned_people (account_id, kind, person_id, charge_id, paid_at)
    select paid.*, clock_timestamp() from (${paid}) paid (account_id, kind, person_id, charge_id)
    where not exists (select from suppressed_persons s where s.person_id = paid.person_id)
    on conflict (account_id, kind, person_id)
      do update set charge_id = excluded.charge_id, paid_at = excluded.paid_at`;
}

/** Blocks of the table that one statement searches: some ten thousand people, a tenth of a second. */
const BLOCKS = 100;

/**
 * Deletes the people who are no longer owned, some at a time: a charge for one of them waits until the statement ends, with the
 * wallets of all calls that are charged with it. Skips those that a charge has locked, which are owned again: it locks them in
 * another order, and each would wait for the other.
 */
export async function deleteNoLongerOwned(sql: Sql): Promise<void> {
  const [table] = await sql<{ blocks: number }[]>`
    select pg_relation_size('owned_people') / current_setting('block_size')::bigint as blocks`;
  const blocks = table?.blocks ?? 0;
  for (let from = 0; from < blocks; from += BLOCKS) {
    await sql`
      with past as (
        select account_id, kind, person_id from owned_people o join wallets w using (account_id)
        where o.ctid >= ${`(${from},0)`}::text::tid and o.ctid < ${`(${from + BLOCKS},0)`}::text::tid
          and o.paid_at < clock_timestamp() - make_interval(days => w.owned_days)
        for update of o skip locked)
      delete from owned_people o using past
      where (o.account_id, o.kind, o.person_id) = (past.account_id, past.kind, past.person_id)`;
  }
}

/** Forgets who owns these people. */
export async function deleteOwned(sql: Sql, ids: readonly number[]): Promise<void> {
  await sql`delete from owned_people where person_id = any(${[...ids]}::bigint[])`;
}
