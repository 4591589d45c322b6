/**
 * Money. Every statement here moves both sides at once or nothing. Locks are taken in the order
 * batch -> chunk -> reservation -> wallet, everywhere.
 */
import type { Sql } from '../db/client.ts';

export interface Wallet {
  balance: number;
  reserved: number;
}

/** The wallet of an account, or undefined when there is no such account. */
export async function readWallet(sql: Sql, accountId: string): Promise<Wallet | undefined> {
  const [wallet] = await sql<Wallet[]>`
    select balance, reserved from wallets where account_id = ${accountId}`;
  return wallet;
}

/**
 * Adds credits with one ledger line. Returns the new balance; undefined when the reference was used
 * before (nothing moves) or the account does not exist.
 */
export async function insertGrant(
  sql: Sql,
  grant: { accountId: string; amount: number; reference: string },
): Promise<number | undefined> {
  const [row] = await sql<{ balance: number }[]>`
    with line as (
      insert into ledger_entries (account_id, reference, kind, amount)
      select account_id, ${grant.reference}, 'grant', ${grant.amount}
      from wallets where account_id = ${grant.accountId}
      on conflict (account_id, reference) do nothing
      returning account_id, amount)
    update wallets set balance = balance + line.amount
    from line where wallets.account_id = line.account_id
    returning balance`;
  return row?.balance;
}

/** The amount that a reference moved, or undefined when it never did. */
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
 * Gives back what the line with this reference charged, or part of it, with one line of its own. Returns
 * the new balance; undefined when there is no such charge, it was less, or it was given back before.
 */
export async function insertRefund(
  sql: Sql,
  refund: { accountId: string; reference: string; amount: number | null },
): Promise<number | undefined> {
  const [row] = await sql<{ balance: number }[]>`
    with charge as (
      select account_id, coalesce(${refund.amount}::bigint, -amount) as amount, operation, batch_id
      from ledger_entries
      where account_id = ${refund.accountId} and reference = ${refund.reference}
        and kind = 'charge' and coalesce(${refund.amount}::bigint, -amount) <= -amount),
    line as (
      insert into ledger_entries (account_id, reference, kind, amount, operation, batch_id)
      select account_id, ${`refund:${refund.reference}`}, 'refund', amount, operation, batch_id
      from charge
      on conflict (account_id, reference) do nothing
      returning account_id, amount)
    update wallets set balance = balance + line.amount
    from line where wallets.account_id = line.account_id
    returning balance`;
  return row?.balance;
}

/** Ledger lines of one UTC day, kind, operation and batch, taken together. */
export interface UsageRow {
  /** `2024-01-31`. */
  day: string;
  kind: 'grant' | 'charge' | 'refund';
  operation: string | null;
  batchId: string | null;
  /** Credits that the wallet gained; negative for charges. */
  amount: number;
  /** Matches that were paid. */
  units: number;
  lines: number;
}

/** Where a page of usage ends: the last row's parts, '' for null. */
export type UsagePlace = readonly [day: string, kind: string, operation: string, batch: string];

/** A page of an account's usage from one day to another, both included, latest first. */
export async function listUsage(
  sql: Sql,
  accountId: string,
  range: { from: string; to: string; after: UsagePlace | null; limit: number },
): Promise<UsageRow[]> {
  const { from, to, after, limit } = range;
  const [day, kind, operation, batch] = after ?? ['', '', '', ''];
  return sql<UsageRow[]>`
    select * from (
      select (created_at at time zone 'UTC')::date::text as day, kind, operation, batch_id,
        sum(amount)::bigint as amount, coalesce(sum(units), 0)::bigint as units,
        count(*) as lines
      from ledger_entries
      where account_id = ${accountId}
        and created_at >= ${from}::date::timestamp at time zone 'UTC'
        and created_at < (${to}::date + 1)::timestamp at time zone 'UTC'
      group by 1, kind, operation, batch_id) u
    where ${after === null} or (day, kind, coalesce(operation, ''), coalesce(batch_id::text, ''))
      < (${day}, ${kind}, ${operation}, ${batch})
    order by day desc, kind desc, coalesce(operation, '') desc, coalesce(batch_id::text, '') desc
    limit ${limit}`;
}

/** What a chunk asks for, and what it got. */
export interface ReserveInput {
  batchId: string;
  chunkId: number;
  epoch: number;
  /** Matches found, and the credits that each costs. */
  matches: number;
  price: number;
}

export interface Reserved {
  /** Matches that the wallet and the batch's own limit can pay, from 0 to those asked for. */
  granted: number;
  /** What held the rest back; null when all fit. */
  limitedBy: 'wallet' | 'max_credits' | null;
  reservationId: number | null;
}

/**
 * Reserves the price of as many of a chunk's matches as wallet and `max_credits` can pay. Locks the
 * batch, the chunk and the wallet, in this order. Returns undefined when the chunk is no longer the
 * caller's (its epoch moved) or the batch no longer runs. Call inside a transaction.
 */
export async function reserveForChunk(
  sql: Sql,
  input: ReserveInput,
): Promise<Reserved | undefined> {
  const [batch] = await sql<{ accountId: string; headroom: number | null }[]>`
    select b.account_id, b.max_credits - b.credits_charged - b.credits_reserved as headroom
    from batches b join chunks c on c.batch_id = b.id
    where b.id = ${input.batchId} and b.state in ('running', 'paused')
      and c.id = ${input.chunkId} and c.epoch = ${input.epoch} and c.state = 'leased'
    -- The chunk too: who waited for the batch must see the epoch of now, not that of the snapshot.
    for update of b, c`;
  if (batch === undefined) return undefined;
  const [wallet] = await sql<{ available: number }[]>`
    select balance - reserved as available from wallets
    where account_id = ${batch.accountId} for update`;
  const byWallet = Math.floor((wallet?.available ?? 0) / input.price);
  const byLimit =
    batch.headroom === null ? input.matches : Math.max(0, Math.floor(batch.headroom / input.price));
  const granted = Math.min(input.matches, byWallet, byLimit);
  let limitedBy: Reserved['limitedBy'] = null;
  if (granted < input.matches) limitedBy = byLimit <= byWallet ? 'max_credits' : 'wallet';
  if (granted === 0) return { granted, limitedBy, reservationId: null };
  const amount = granted * input.price;
  const [reservation] = await sql<{ id: number }[]>`
    with wallet as (
      update wallets set reserved = reserved + ${amount} where account_id = ${batch.accountId}),
    batch as (
      update batches set credits_reserved = credits_reserved + ${amount} where id = ${input.batchId})
    insert into reservations (account_id, batch_id, chunk_id, epoch, amount)
    values (${batch.accountId}, ${input.batchId}, ${input.chunkId}, ${input.epoch}, ${amount})
    returning id`;
  return { granted, limitedBy, reservationId: reservation?.id ?? null };
}

/** A single call that matched and is to be paid. */
export interface PaidCall {
  accountId: string;
  keyId: string;
  price: number;
  /** Unique for the account: the same call is charged once. */
  reference: string;
  operation: string;
}

/** What became of a call. */
export interface ChargedCall {
  paid: boolean;
  /** What the wallet has left for further calls. */
  remaining: number;
  /** What the key may still spend today; null where it sets no bound. */
  leftToday: number | null;
}

/**
 * Charges these calls, in the order given, each from its account's wallet with a ledger line of its own
 * and within its key's bound for the UTC day; one statement for all. Wallets are locked in the order of
 * their ids, then the bounds of keys in theirs.
 */
export async function chargeCalls(sql: Sql, calls: readonly PaidCall[]): Promise<ChargedCall[]> {
  return sql<ChargedCall[]>`
    with call as (
      select * from unnest(
        ${calls.map((call) => call.accountId)}::uuid[], ${calls.map((call) => call.keyId)}::uuid[],
        ${calls.map((call) => call.price)}::bigint[],
        ${calls.map((call) => call.reference)}::text[],
        ${calls.map((call) => call.operation)}::text[]
      ) with ordinality c (account_id, key_id, price, reference, operation, place)),
    wallet as (
      select account_id, balance - reserved as available from wallets
      where account_id in (select account_id from call) order by account_id for update),
    budget as (
      -- The rows are read as they are after the lock, so two statements never spend the same credit.
      select key_id, credits_per_day - case when day = (now() at time zone 'UTC')::date
        then spent else 0 end as available
      from key_budgets
      where key_id in (select key_id from call) and (select count(*) from wallet) > 0
      order by key_id for update),
    answered as (
      select call.*, wallet.available, budget.available as today,
        sum(price) over (partition by account_id order by place) <= wallet.available
          and (budget.available is null or
            sum(price) over (partition by key_id order by place) <= budget.available) as paid
      from call join wallet using (account_id) left join budget using (key_id)),
    line as (
      insert into ledger_entries (account_id, reference, kind, amount, operation, units)
      select account_id, reference, 'charge', -price, operation, 1 from answered where paid),
    spent as (
      select account_id, sum(price)::bigint as amount from answered where paid group by account_id),
    moved as (
      update wallets w set balance = w.balance - spent.amount
      from spent where w.account_id = spent.account_id),
    spent_today as (
      select key_id, sum(price)::bigint as amount from answered
      where paid and today is not null group by key_id),
    counted as (
      update key_budgets b set day = (now() at time zone 'UTC')::date,
        spent = case when b.day = (now() at time zone 'UTC')::date then b.spent else 0 end + s.amount
      from spent_today s where b.key_id = s.key_id)
    select paid, available - coalesce(spent.amount, 0) as remaining,
      today - coalesce(spent_today.amount, 0) as left_today
    from answered left join spent using (account_id) left join spent_today using (key_id)
    order by place`;
}

/** The invariants of money: for each the number of rows that break it. */
export async function countViolations(sql: Sql): Promise<{ name: string; violations: number }[]> {
  return sql<{ name: string; violations: number }[]>`
    with ledger as (
      select account_id, sum(amount)::bigint as total from ledger_entries group by account_id),
    open as (
      select account_id, sum(amount)::bigint as total from reservations where state = 'open'
      group by account_id),
    open_by_batch as (
      select batch_id, sum(amount)::bigint as total from reservations where state = 'open'
      group by batch_id),
    charged as (
      select batch_id, -sum(amount)::bigint as total, sum(units)::bigint as units
      from ledger_entries where kind = 'charge' and batch_id is not null group by batch_id)
    select 'the ledger of every account sums to its balance' as name,
      count(*) filter (where w.balance <> coalesce(l.total, 0))::int as violations
      from wallets w left join ledger l using (account_id)
    union all
    select 'every wallet holds 0 <= reserved <= balance',
      count(*) filter (where not (0 <= reserved and reserved <= balance))::int from wallets
    union all
    select 'every wallet reserves what its open reservations hold',
      count(*) filter (where w.reserved <> coalesce(o.total, 0))::int
      from wallets w left join open o using (account_id)
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
    select 'every settled reservation has its ledger line',
      count(*)::int from (
        select r.batch_id, sum(r.amount)::bigint as settled from reservations r
        where r.state = 'settled' group by r.batch_id) s
      left join charged c on c.batch_id = s.batch_id where s.settled <> coalesce(c.total, 0)`;
}
