/**
 * Money. Every statement here moves both sides or nothing. Locks are always taken in the order batch -> chunk ->
 * reservation -> wallet -> budget of a key -> sum of stored files.
 */
import type { Sql } from '../db/client.ts';
import { uncountRefund } from './key-budgets.sql.ts';

export interface Wallet {
  balance: number;
  reserved: number;
}

/** Main statement: opens an empty wallet for the account in the caller's CTE `account (id)`. */
export function openWallet(sql: Sql): ReturnType<Sql> {
  return sql`insert into wallets (account_id) select id from account`;
}

/**
 * Locks an account's wallet until the transaction ends: changes of the account's data are serialised. Charges wait
 * for it, so the transaction must be short.
 */
export async function lockWallet(sql: Sql, accountId: string): Promise<void> {
  await sql`select from wallets where account_id = ${accountId} for no key update`;
}

/** Sets the balance below which charges raise events. `below` is a subquery of one value, null for no events. */
export async function watchBalance(
  sql: Sql,
  accountId: string,
  below: ReturnType<Sql>,
): Promise<void> {
  await sql`update wallets set watched_below = (${below}) where account_id = ${accountId}`;
}

/** Expression: the credits that are not reserved in the wallet of the expression `accountId`. */
export function creditsOf(sql: Sql, accountId: ReturnType<Sql>): ReturnType<Sql> {
  return sql`(select balance - reserved from wallets where account_id = ${accountId})`;
}

/** Returns the wallet of an account; undefined when the account does not exist. */
export async function readWallet(sql: Sql, accountId: string): Promise<Wallet | undefined> {
  const [wallet] = await sql<Wallet[]>`
    select balance, reserved from wallets where account_id = ${accountId}`;
  return wallet;
}

/**
 * Adds credits with one ledger line, to a wallet of at most `balanceMax` with them. Returns the new balance; undefined when the
 * reference was used before, the wallet would hold more (nothing moves), or the account does not exist.
 */
export async function insertGrant(
  sql: Sql,
  grant: { accountId: string; amount: number; reference: string; balanceMax: number },
): Promise<number | undefined> {
  const [row] = await sql<{ balance: number }[]>`
    with wallet as (
      select account_id from wallets
      where account_id = ${grant.accountId} and balance + ${grant.amount} <= ${grant.balanceMax} for update),
    line as (
      insert into ledger_entries (account_id, reference, kind, amount)
      select account_id, ${grant.reference}, 'grant', ${grant.amount} from wallet
      on conflict (account_id, reference) do nothing
      returning account_id, amount)
    update wallets set balance = balance + line.amount
    from line where wallets.account_id = line.account_id
    returning balance`;
  return row?.balance;
}

/** Returns the amount that a reference moved; undefined when it moved none. */
export async function findLedgerAmount(
  sql: Sql,
  line: { accountId: string; reference: string },
): Promise<number | undefined> {
  const [row] = await sql<{ amount: number }[]>`
    select amount from ledger_entries
    where account_id = ${line.accountId} and reference = ${line.reference}`;
  return row?.amount;
}

/**
 * Refunds the charge with this reference, or part of it, with its own ledger line. People whose whole charge is refunded are no
 * longer owned, and the refund of a call or a page no longer counts against its key's day. Returns the new balance; undefined when
 * there is no such charge, it was less, or it was refunded before.
 */
export async function insertRefund(
  sql: Sql,
  refund: { accountId: string; reference: string; amount: number | null },
): Promise<number | undefined> {
  const [row] = await sql<{ balance: number }[]>`
    with wallet as (
      -- First, as in a charge.
      select account_id from wallets where account_id = ${refund.accountId} for update),
    charge as (
      select id, account_id, coalesce(${refund.amount}::bigint, -amount) as amount, operation, batch_id,
        key_id, created_at, coalesce(${refund.amount}::bigint, -amount) = -amount as is_whole
      from wallet join ledger_entries using (account_id)
      where reference = ${refund.reference}
        and kind = 'charge' and coalesce(${refund.amount}::bigint, -amount) <= -amount),
    line as (
      insert into ledger_entries (account_id, reference, kind, amount, operation, batch_id, key_id)
      select account_id, ${`refund:${refund.reference}`}, 'refund', amount, operation, batch_id,
        key_id
      from charge
      on conflict (account_id, reference) do nothing
      returning account_id, amount),
    disowned as (
      delete from owned_people o using charge, line
      where o.account_id = line.account_id and o.charge_id = charge.id and charge.is_whole),
    ${uncountRefund(sql)}
    update wallets set balance = balance + line.amount
    from line where wallets.account_id = line.account_id
    returning balance`;
  return row?.balance;
}

/**
 * Refunds what is left of every charge of a batch, of which an operator may have refunded a part, with a ledger line each; its
 * people are no longer owned. Returns the credits. Safe to repeat. Call with the wallet locked: a refund of an operator is before
 * it, and seen, or after it.
 */
export async function refundBatch(sql: Sql, batchId: string): Promise<number> {
  const [row] = await sql<{ credits: number }[]>`
    with charge as (
      select l.id, l.account_id, l.operation, l.batch_id, l.key_id,
        -l.amount - coalesce(before.amount, 0) as amount,
        'refund:' || l.reference || case when before.amount is null then '' else ':rest' end as reference
      from ledger_entries l left join lateral (
        select sum(amount)::bigint as amount from ledger_entries
        where account_id = l.account_id
          and reference in ('refund:' || l.reference, 'refund:' || l.reference || ':rest')) before on true
      where l.batch_id = ${batchId} and l.kind = 'charge'),
    line as (
      insert into ledger_entries (account_id, reference, kind, amount, operation, batch_id, key_id)
      select account_id, reference, 'refund', amount, operation, batch_id, key_id from charge
      where amount > 0
      on conflict (account_id, reference) do nothing
      returning account_id, reference, amount),
    disowned as (
      delete from owned_people o using charge join line using (account_id, reference)
      where o.account_id = charge.account_id and o.charge_id = charge.id),
    refund as (select account_id, sum(amount)::bigint as credits from line group by account_id),
    wallet as (
      update wallets set balance = balance + refund.credits
      from refund where wallets.account_id = refund.account_id
      returning refund.credits)
    select coalesce(sum(credits), 0)::bigint as credits from wallet`;
  return row?.credits ?? 0;
}

/** The ledger lines of an account that a statement reads: UTC days, both included, of one key or of all. */
export interface LedgerRange {
  accountId: string;
  from: string;
  to: string;
  keyId: string | null;
}

export const ledgerKinds = ['grant', 'charge', 'refund'] as const;

/** Ledger lines of one UTC day, kind, operation, key and batch, combined. */
export interface UsageRow {
  /** `2024-01-31`. */
  day: string;
  kind: (typeof ledgerKinds)[number];
  operation: string | null;
  keyId: string | null;
  batchId: string | null;
  /** Credits that the wallet gained; negative for charges. */
  amount: number;
  /** Matches that were paid. */
  units: number;
  lines: number;
}

/** End of a page of usage: the last row's parts, '' for null. */
export type UsagePlace = readonly [
  day: string,
  kind: string,
  operation: string,
  key: string,
  batch: string,
];

/** In place of no key or batch: ids are compared as such, which takes half the time of their texts. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the first rows of the usage of these days after a place, latest first; it reads all lines of the days, and adds up
 * those after the place.
 */
export async function selectUsage(
  sql: Sql,
  range: LedgerRange & { after: UsagePlace | null; limit: number },
): Promise<UsageRow[]> {
  const { after, limit } = range;
  const { from, to } = range;
  // The day of a line takes as long to work out as the rest of its group.
  const day = from === to ? sql`${to}::date` : sql`(created_at at time zone 'UTC')::date`;
  const key = sql`coalesce(key_id, ${NO_ID}::uuid)`;
  const batch = sql`coalesce(batch_id, ${NO_ID}::uuid)`;
  const isAfter = (place: UsagePlace) =>
    sql`and (${day}, kind, coalesce(operation, ''), ${key}, ${batch}) < (${place[0]}::date, ${place[1]},
      ${place[2]}, ${place[3] || NO_ID}::uuid, ${place[4] || NO_ID}::uuid)`;
  return sql<UsageRow[]>`
    select day::text, kind, operation, key_id, batch_id, amount, units, lines from (
      select ${day} as day, kind, operation, key_id, batch_id,
        sum(amount)::bigint as amount, coalesce(sum(units), 0)::bigint as units,
        count(*) as lines
      from ledger_entries
      where ${inRange(sql, range)} ${after === null ? sql`` : isAfter(after)}
      group by 1, kind, operation, key_id, batch_id) u
    order by u.day desc, kind desc, coalesce(operation, '') desc, ${key} desc, ${batch} desc
    limit ${limit}`;
}

/** One line of the ledger. */
export interface LedgerLine
  extends Pick<UsageRow, 'kind' | 'operation' | 'keyId' | 'batchId' | 'amount'> {
  /** Matches that were paid; null for what is no charge. */
  units: number | null;
  reference: string;
  /** With microseconds: `2024-01-31 12:00:00.123456+00`. */
  at: string;
  createdAt: Date;
}

/** End of a page of ledger lines. The ids of lines would reveal how many all accounts have. */
export type LedgerPlace = readonly [at: string, reference: string];

/** Returns a page of ledger lines, latest first. */
export async function listLedgerLines(
  sql: Sql,
  range: LedgerRange & { after: LedgerPlace | null; limit: number },
): Promise<LedgerLine[]> {
  const [at, reference] = range.after ?? ['infinity', ''];
  return sql<LedgerLine[]>`
    select kind, operation, key_id, batch_id, amount, units, reference, created_at::text as at, created_at
    from ledger_entries
    where ${inRange(sql, range)} and (created_at, reference) < (${at}::text::timestamptz, ${reference})
    order by created_at desc, reference desc limit ${range.limit}`;
}

function inRange(sql: Sql, { accountId, from, to, keyId }: LedgerRange) {
  return sql`account_id = ${accountId}
    and created_at >= ${from}::date::timestamp at time zone 'UTC'
    and created_at < (${to}::date + 1)::timestamp at time zone 'UTC'
    and (${keyId}::uuid is null or key_id = ${keyId}::uuid)`;
}
