import type { Sql } from '../db/client.ts';
import type { CallCredentials } from '../keys/keys.ts';
import { must } from '../lib/assert.ts';
import { budgetRows, spendToday } from './key-budgets.sql.ts';

/** A fixed page of records that must be paid, each at `price` credits. */
export interface PricedPage extends CallCredentials {
  accountId: string;
  /** Unique within the account: the same page is charged once. */
  reference: string;
  operation: string;
  price: number;
  records: number;
  /** True when fewer records may be paid if credits are short. */
  partial: boolean;
}

/** The result of a page's charge. */
export interface ChargedPage {
  /**
   * Number of paid records: all, or for a partial page as many as affordable, otherwise none. Null when the key,
   * or the session that presented it, is no longer valid.
   */
  granted: number | null;
  remaining: number;
  leftToday: number | null;
}

/**
 * Charges a page from its account's wallet with one ledger line, within the key's maximum for the UTC day; one
 * statement. Locks as `chargeCalls`.
 */
export async function chargePage(sql: Sql, page: PricedPage): Promise<ChargedPage> {
  const amount: ReturnType<Sql> = sql`granted * ${page.price}::bigint`;
  const [charged] = await sql<ChargedPage[]>`
    with wallet as (
      select account_id, balance - reserved as available from wallets
      where account_id = ${page.accountId} for update),
    key as (
      select k.id, k.credits_of from api_keys k
      where k.id = ${page.keyId} and is_valid(k) and (select count(*) from wallet) > 0 for share),
    session as (
      select from sessions
      where token_sha256 = ${page.sessionSha256}::bytea and expires_at > clock_timestamp()
        and (select count(*) from key) > 0 for share),
    ${budgetRows(sql, sql`select id from key`, sql`true`)},
    budget as (
      select b.credits_per_day - c.taken as available
      from key join budget_row b on b.key_id = key.id join budget_row c on c.key_id = key.credits_of),
    purse as (
      select account_id, wallet.available, budget.available as today,
        greatest(0, least(wallet.available, budget.available)) / ${page.price}::bigint as affordable
      from wallet left join budget on true),
    decided as (
      select *, case
        when not exists (select from key)
          or ${page.sessionSha256 !== null} and not exists (select from session) then null
        when affordable >= ${page.records}::bigint then ${page.records}::bigint
        when ${page.partial} then affordable else 0 end as granted
      from purse),
    line as (
      insert into ledger_entries (account_id, reference, kind, amount, operation, units, key_id)
      select account_id, ${page.reference}, 'charge', -${amount}, ${page.operation}, granted, ${page.keyId}
      from decided where granted > 0),
    moved as (
      update wallets w set balance = w.balance - ${amount}
      from decided d where w.account_id = d.account_id and granted > 0),
    counted as (
      update key_budgets b set ${spendToday(sql, { calls: amount, batches: sql`0` })}
      from decided d where b.key_id = (select credits_of from key) and d.granted > 0)
    select granted, available - coalesce(${amount}, 0) as remaining,
      today - coalesce(${amount}, 0) as left_today
    from decided`;
  return must(charged, `wallet of ${page.accountId}`);
}
