/**
 * Money. Every statement here moves both sides at once or nothing. Locks are taken in the order
 * batch -> chunk -> reservation -> wallet -> budget of a key, everywhere.
 */
import type { Sql } from '../db/client.ts';
import type { CallCredentials } from '../keys/keys.ts';

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
  /** Matches that wallet, key and the batch's own limit can pay, from 0 to those asked for. */
  granted: number;
  /** What held the rest back, wallet, key or the batch's own limit; null when all fit. */
  limitedBy: 'insufficient_credits' | 'key_budget' | 'max_credits' | null;
  reservationId: number | null;
}

/**
 * Reserves the price of as many of a chunk's matches as `max_credits`, the wallet and the key's budget of
 * the day can pay, in one statement. Locks the batch, the chunk, the wallet and the budget, in this order:
 * each is sought when the one before it is held, and read as it is under its lock. Returns undefined when
 * the chunk is no longer the caller's (its epoch moved) or the batch no longer runs.
 */
export async function reserveForChunk(
  sql: Sql,
  input: ReserveInput,
): Promise<Reserved | undefined> {
  const { batchId, chunkId, epoch, matches, price } = input;
  const [reserved] = await sql<Reserved[]>`
    with batch as (
      select b.id, b.account_id, b.key_id,
        b.max_credits - b.credits_charged - b.credits_reserved as headroom
      from batches b join chunks c on c.batch_id = b.id
      where b.id = ${batchId} and b.state in ('running', 'paused')
        and c.id = ${chunkId} and c.epoch = ${epoch} and c.state = 'leased'
      -- The chunk too: who waited for the batch must see the epoch of now, not that of the snapshot.
      for update of b, c),
    wallet as (
      select balance - reserved as available from wallets
      where account_id = (select account_id from batch) for update),
    ${budgetRows(sql, sql`select key_id from batch`, sql`(select count(*) from wallet) > 0`)},
    budget as (
      select k.credits_of, b.credits_per_day - c.taken as left_today
      from api_keys k join budget_row b on b.key_id = k.id join budget_row c on c.key_id = k.credits_of
      where k.id = (select key_id from batch)),
    -- Matches that each of the limits can pay; all that are asked for where it sets none.
    payable as (
      select batch.*, credits_of,
        greatest(0, least(${matches}::bigint, headroom / ${price}::bigint)) as by_limit,
        greatest(0, least(${matches}::bigint, available / ${price}::bigint)) as by_wallet,
        greatest(0, least(${matches}::bigint, left_today / ${price}::bigint)) as by_key
      from batch cross join wallet left join budget on true),
    decided as (
      select *, least(by_limit, by_wallet, by_key) as granted,
        least(by_limit, by_wallet, by_key) * ${price}::bigint as amount
      from payable),
    paying as (
      update wallets w set reserved = w.reserved + d.amount
      from decided d where w.account_id = d.account_id and d.granted > 0),
    spent as (
      update key_budgets b set ${spendToday(sql, { calls: sql`0`, batches: sql`d.amount` })}
      from decided d where b.key_id = d.credits_of and d.granted > 0
      returning b.day),
    counted as (
      update batches b set credits_reserved = b.credits_reserved + d.amount
      from decided d where b.id = d.id and d.granted > 0),
    reservation as (
      insert into reservations (account_id, batch_id, chunk_id, epoch, amount, budget_day)
      select account_id, id, ${chunkId}, ${epoch}, amount, (select day from spent)
      from decided where granted > 0
      returning id)
    select granted, reservation.id as reservation_id, case
        when granted = ${matches} then null
        -- At its own limit the batch is done: what else is short does not matter any more.
        when granted = by_limit then 'max_credits'
        when granted = by_wallet then 'insufficient_credits'
        else 'key_budget' end as limited_by
    from decided left join reservation on true`;
  return reserved;
}

/**
 * What keeps a batch from paying for one more match, or null. Its own limit always counts; wallet and key only as
 * long as it has paid for nothing, because a list that spent the last credit still ends with its misses.
 */
export async function findShortage(
  sql: Sql,
  { batchId, price }: { batchId: string; price: number },
): Promise<Reserved['limitedBy']> {
  const [row] = await sql<Pick<Reserved, 'limitedBy'>[]>`
    select case
        when b.max_credits - b.credits_charged - b.credits_reserved < ${price}::bigint
          then 'max_credits'
        when b.credits_charged + b.credits_reserved > 0 then null
        when w.balance - w.reserved < ${price}::bigint then 'insufficient_credits'
        when k.credits_per_day - credits_taken_today(c) < ${price}::bigint then 'key_budget' end as limited_by
    from batches b join wallets w on w.account_id = b.account_id
      join api_keys a on a.id = b.key_id
      left join key_budgets k on k.key_id = a.id
      left join key_budgets c on c.key_id = a.credits_of
    where b.id = ${batchId}`;
  return row?.limitedBy ?? null;
}

/**
 * CTE `budget_row`: the budgets of these keys, locked in the order of their ids once `after` is true. The
 * row of a key holds its bound; what counts against it is `taken` in the row of its `credits_of`.
 */
export function budgetRows(sql: Sql, keys: ReturnType<typeof sql>, after: ReturnType<typeof sql>) {
  return sql`
    budget_row as (
      -- As they are after the lock, so two statements never spend the same credit.
      select b.key_id, b.credits_per_day, credits_taken_today(b) as taken from key_budgets b
      where b.key_id in (
          select unnest(array[k.id, k.credits_of]) from api_keys k where k.id in (${keys}))
        and ${after}
      order by b.key_id for update)`;
}

/** What a `key_budgets b` row becomes when calls or batches spend of it today. */
export function spendToday(
  sql: Sql,
  by: { calls: ReturnType<typeof sql>; batches: ReturnType<typeof sql> },
) {
  return sql`
    day = greatest(b.day, utc_today()),
    spent = case when b.day >= utc_today() then b.spent else 0 end + ${by.calls},
    spent_by_batches =
      case when b.day >= utc_today() then b.spent_by_batches else 0 end + ${by.batches}`;
}

/** A single call that matched and is to be paid. */
export interface PaidCall extends CallCredentials {
  accountId: string;
  price: number;
  /** Unique for the account: the same call is charged once. */
  reference: string;
  operation: string;
}

/** What became of a call. */
export interface ChargedCall {
  /** Null when the key, or the session that presented it, is not in force any more. */
  paid: boolean | null;
  /** What the wallet has left for further calls. */
  remaining: number;
  /** What the key may still spend today; null where it sets no bound. */
  leftToday: number | null;
}

/**
 * Charges these calls, in the order given, each from its account's wallet with a ledger line of its own
 * and within its key's bound for the UTC day; one statement for all. A call whose key or session has ended
 * since it was let in is not charged. Wallets are locked in the order of their ids, then keys and sessions
 * (which a revocation waits for, and which wait for it), then the bounds of keys in theirs.
 */
export async function chargeCalls(sql: Sql, calls: readonly PaidCall[]): Promise<ChargedCall[]> {
  return sql<ChargedCall[]>`
    with call as (
      select * from unnest(
        ${calls.map((call) => call.accountId)}::uuid[], ${calls.map((call) => call.keyId)}::uuid[],
        ${calls.map((call) => call.price)}::bigint[],
        ${calls.map((call) => call.reference)}::text[],
        ${calls.map((call) => call.operation)}::text[],
        ${calls.map((call) => call.sessionSha256?.toString('hex') ?? null)}::text[]
      ) with ordinality c (account_id, key_id, price, reference, operation, session, place)),
    wallet as (
      select account_id, balance - reserved as available from wallets
      where account_id in (select account_id from call) order by account_id for update),
    key as (
      select k.id as key_id, k.credits_of from api_keys k
      where k.id in (select key_id from call) and is_in_force(k)
        and (select count(*) from wallet) > 0
      order by k.id for share),
    session as (
      select encode(token_sha256, 'hex') as session from sessions
      where token_sha256 in (select decode(session, 'hex') from call)
        and expires_at > clock_timestamp() and (select count(*) from key) > 0
      order by token_sha256 for share),
    allowed as (
      select call.*, key.credits_of,
        key.key_id is not null and (call.session is null or s.session is not null) as allowed
      from call left join key using (key_id) left join session s on s.session = call.session),
    ${budgetRows(sql, sql`select key_id from allowed where allowed`, sql`true`)},
    purse as (
      select allowed.*, wallet.available, b.credits_per_day - c.taken as today
      from allowed join wallet using (account_id)
        left join budget_row b on b.key_id = allowed.key_id
        left join budget_row c on c.key_id = allowed.credits_of),
    answered as (
      select *, case when allowed then
          sum(price) filter (where allowed) over (partition by account_id order by place) <= available
          and (today is null or
            sum(price) filter (where allowed) over (partition by credits_of order by place) <= today)
        end as paid
      from purse),
    line as (
      insert into ledger_entries (account_id, reference, kind, amount, operation, units)
      select account_id, reference, 'charge', -price, operation, 1 from answered where paid),
    spent as (
      select account_id, sum(price)::bigint as amount from answered where paid group by account_id),
    moved as (
      update wallets w set balance = w.balance - spent.amount
      from spent where w.account_id = spent.account_id),
    spent_today as (
      select credits_of, sum(price)::bigint as amount from answered
      where paid group by credits_of),
    counted as (
      update key_budgets b set ${spendToday(sql, { calls: sql`s.amount`, batches: sql`0` })}
      from spent_today s where b.key_id = s.credits_of)
    select paid, available - coalesce(spent.amount, 0) as remaining,
      today - coalesce(spent_today.amount, 0) as left_today
    from answered left join spent using (account_id) left join spent_today using (credits_of)
    order by place`;
}
