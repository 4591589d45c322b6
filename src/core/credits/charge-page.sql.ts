import type { CallCredentials } from '../call-credentials.ts';
import type { Sql } from '../db/client.ts';
import { presentIds } from '../graph/merged-ids.sql.ts';
import { entityCodes } from '../graph/source-entities.ts';
import { must } from '../lib/assert.ts';
import type { PricedOperation } from '../operations.ts';
import { budgetRows, spendToday } from './key-budgets.sql.ts';
import { ownedAmong, ownedCode, ownFrom } from './owned.sql.ts';

/** A fixed page of people that must be paid, each at `price` credits unless the account owns the person. */
export interface PricedPage extends CallCredentials {
  accountId: string;
  /** Unique within the account: the same page is charged once. */
  reference: string;
  operation: PricedOperation;
  price: number;
  /** Their ids, each once. */
  people: readonly number[];
  /** True when fewer people may be paid if credits are short. */
  partial: boolean;
}

/** The result of a page's charge. */
export interface ChargedPage {
  /**
   * Number of people from the first on that may be sent: all, or for a partial page as many as affordable, otherwise
   * none. Null when the key, or the session that presented it, is no longer valid.
   */
  granted: number | null;
  /** Number of those that were charged; the account owned the others. */
  units: number;
  remaining: number;
  leftToday: number | null;
}

/**
 * Charges the people of a page whom the account does not own from its wallet, with one ledger line, within the key's
 * maximum for the UTC day; one statement. Locks as `chargeCalls`.
 */
export async function chargePage(sql: Sql, page: PricedPage): Promise<ChargedPage> {
  const amount: ReturnType<Sql> = sql`units * ${page.price}::bigint`;
  const kind = ownedCode(page.operation);
  const [charged] = await sql<ChargedPage[]>`
    with wallet as (
      select account_id, balance, reserved, balance - reserved as available, owned_days from wallets
      where account_id = ${page.accountId} for update),
    owned as (
      select o.person_id from wallet
        cross join lateral ${ownedAmong(sql, {
          accountId: sql`account_id`,
          kind: sql`${kind}::smallint`,
          ids: sql`${[...page.people]}::bigint[]`,
          ownedDays: sql`owned_days`,
        })} o (person_id)
      where owned_days > 0),
    present as (
      select p.id, p.present_id from wallet
        cross join lateral ${presentIds(sql, entityCodes.person, sql`select unnest(${[...page.people]}::bigint[])`)} p
      where owned_days > 0),
    asked as (
      select p.id, p.place, owned.person_id is null and row_number() over (
          partition by coalesce(present.present_id, p.id) order by p.place) = 1 as is_new
      from unnest(${[...page.people]}::bigint[]) with ordinality p (id, place)
        left join owned on owned.person_id = p.id
        left join present on present.id = p.id),
    person as (
      -- How many must be charged up to and including each.
      select id, is_new, count(*) filter (where is_new) over (order by place) as new_people from asked),
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
      select account_id, owned_days, wallet.available, budget.available as today,
        greatest(0, least(wallet.available, budget.available)) / ${page.price}::bigint as affordable
      from wallet left join budget on true),
    payable as (
      select *, case
        when not exists (select from key)
          or ${page.sessionSha256 !== null} and not exists (select from session) then null
        when ${page.partial} or affordable >= (select max(new_people) from person) then affordable
        else -1 end as allowance
      from purse),
    decided as (
      select payable.*, case when allowance is not null then sent.people end as granted, sent.units
      from payable cross join lateral (
        select count(*) as people, count(*) filter (where is_new) as units
        from person where new_people <= allowance) sent),
    line as (
      insert into ledger_entries (account_id, reference, kind, amount, operation, units, key_id)
      select account_id, ${page.reference}, 'charge', -${amount}, ${page.operation}, units, ${page.keyId}
      from decided where units > 0
      returning id),
    kept as (${ownFrom(
      sql,
      sql`select d.account_id, ${kind}::smallint, person.id, line.id
        from decided d cross join line
          join person on person.is_new and person.new_people <= d.units
        where d.owned_days > 0`,
    )}),
    moved as (
      update wallets w set balance = wallet.balance - ${amount}, reserved = wallet.reserved
      from decided d join wallet using (account_id) where w.account_id = d.account_id and units > 0),
    counted as (
      update key_budgets b set ${spendToday(sql, { calls: amount, batches: sql`0` })}
      from decided d where b.key_id = (select credits_of from key) and d.units > 0)
    select granted, units, available - coalesce(${amount}, 0) as remaining,
      today - coalesce(${amount}, 0) as left_today
    from decided`;
  return must(charged, `wallet of ${page.accountId}`);
}
