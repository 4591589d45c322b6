import type { Sql } from '../db/client.ts';
import type { CallCredentials } from '../keys/keys.ts';
import { budgetRows, spendToday } from './key-budgets.sql.ts';

/** A single call that matched and must be paid. */
export interface PaidCall extends CallCredentials {
  accountId: string;
  price: number;
  /** Unique within the account: the same call is charged once. */
  reference: string;
  operation: string;
}

/** The result of a call's charge. */
export interface ChargedCall {
  /** Null when the key, or the session that presented it, is no longer valid. */
  paid: boolean | null;
  /** Credits left in the wallet for further calls. */
  remaining: number;
  /** Credits that the key may still spend today; null without a maximum. */
  leftToday: number | null;
}

/**
 * Charges these calls, in the order given, each from its account's wallet with its own ledger line and within its
 * key's maximum for the UTC day; one statement for all. A call whose key or session has ended since it was
 * admitted is not charged. Wallets are locked in the order of their ids, then keys and sessions (which a
 * revocation waits for, and which wait for it), then the budgets of keys in theirs.
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
      where k.id in (select key_id from call) and is_valid(k)
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
      insert into ledger_entries (account_id, reference, kind, amount, operation, units, key_id)
      select account_id, reference, 'charge', -price, operation, 1, key_id from answered where paid),
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
