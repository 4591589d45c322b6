import type { CallCredentials } from '../call-credentials.ts';
import type { Sql } from '../db/client.ts';
import type { GraphState } from '../graph/graph-state.ts';
import { isInState } from '../graph/in-state.sql.ts';
import { presentIds } from '../graph/merged-ids.sql.ts';
import { entityCodes } from '../graph/source-entities.ts';
import type { PricedOperation } from '../operations.ts';
import { budgetRows, spendToday } from './key-budgets.sql.ts';
import { ownedAmong, ownedCode, ownFrom } from './owned.sql.ts';

/** A single call that matched and must be paid. */
export interface PaidCall extends CallCredentials {
  accountId: string;
  price: number;
  /** Unique within the account: the same call is charged once. */
  reference: string;
  operation: PricedOperation;
  /** The record that matched. */
  recordId: number;
  /** True when its account had no `owned_days` and its key no maximum as it was admitted, as most have. */
  isPlain: boolean;
}

/** The result of a call's charge. */
export interface ChargedCall {
  /** Null when the key, or the session that presented it, is no longer valid. */
  paid: boolean | null;
  /** Credits that it cost: nothing for a person whom the account owns. */
  charged: number;
  /** Credits left in the wallet for further calls. */
  remaining: number;
  /** Credits that the key may still spend today; null without a maximum. */
  leftToday: number | null;
}

/**
 * Charges these calls, in the order given, each from its account's wallet with its own ledger line and within its
 * key's maximum for the UTC day: all of them or, when this throws, none. Plain calls take a statement of half the cost;
 * next to one that is not plain, or no longer is, all take the other. A call whose key or session has ended since it was
 * admitted is not charged. Wallets are locked in the order of their ids, then keys and sessions (which a
 * revocation waits for, and which wait for it), then the budgets of keys in theirs. A person whom the account owns
 * costs nothing; of several calls for a new one, the first that is paid pays. With `graph`, the state in which a local copy
 * answered for them: nothing is charged, and there are no results, when the graph has another one.
 */
export async function chargeCalls(
  sql: Sql,
  calls: readonly PaidCall[],
  graph: GraphState | null = null,
): Promise<ChargedCall[]> {
  const arePlain = calls.every(({ isPlain, sessionSha256 }) => isPlain && sessionSha256 === null);
  const charged = arePlain ? await chargePlain(sql, calls, graph) : null;
  return charged ?? chargeAny(sql, calls, graph);
}

/**
 * Charges calls, none of a session, of accounts without `owned_days` by keys without a maximum. Null, and nothing is done,
 * when one of them is another call, now that the wallets are locked, or the graph has another state.
 */
async function chargePlain(
  sql: Sql,
  calls: readonly PaidCall[],
  graph: GraphState | null,
): Promise<ChargedCall[] | null> {
  const rows = await sql<Omit<ChargedCall, 'leftToday'>[]>`
    with call as (
      select * from unnest(
        ${calls.map((call) => call.accountId)}::uuid[], ${calls.map((call) => call.keyId)}::uuid[],
        ${calls.map((call) => call.price)}::bigint[],
        ${calls.map((call) => call.reference)}::text[],
        ${calls.map((call) => call.operation)}::text[]
      ) with ordinality c (account_id, key_id, cost, reference, operation, place)),
    wallet as (
      select account_id, balance, reserved, balance - reserved as available from wallets
      where account_id in (select account_id from call) and owned_days = 0
        and ${isInState(sql, graph)}
      order by account_id for update),
    key as (
      select k.id as key_id, exists (
          select from key_budgets b where b.key_id = any(array[k.id, k.credits_of])) as is_bound
      from api_keys k
      where k.id in (select key_id from call) and is_valid(k) and (select count(*) from wallet) > 0
      order by k.id for share),
    answered as (
      select call.*, wallet.available,
        case when key.key_id is not null then
          sum(cost) filter (where key.key_id is not null)
            over (partition by account_id order by place) <= wallet.available
        end as paid
      from call join wallet using (account_id) left join key using (key_id)
      where (select count(*) from wallet) = ${new Set(calls.map((call) => call.accountId)).size}
        and not exists (select from key where is_bound)),
    line as (${insertLines(sql)}),
    ${spendFromWallets(sql)}
    select paid, case when paid then cost else 0 end as charged,
      available - coalesce(spent.amount, 0) as remaining
    from answered left join spent using (account_id) order by place`;
  return rows.length === 0 ? null : rows.map((row) => ({ ...row, leftToday: null }));
}

/** Main statement: the ledger lines of the CTE `answered`. */
const insertLines = (sql: Sql) => sql`
  insert into ledger_entries (account_id, reference, kind, amount, operation, units, key_id)
  select account_id, reference, 'charge', -cost, operation, 1, key_id
  from answered where paid and cost > 0
  returning id, account_id, reference`;

/**
 * CTEs `spent` and `moved`: take the cost of the CTE `answered` from the wallets of the CTE `wallet`. They get the values that
 * were read under their lock: Postgres checks constraints on the row of the snapshot first, which may lack credits that came
 * meanwhile.
 */
const spendFromWallets = (sql: Sql) => sql`
  spent as (
    select account_id, sum(cost)::bigint as amount from answered
    where paid and cost > 0 group by account_id),
  moved as (
    update wallets w set balance = wallet.balance - spent.amount, reserved = wallet.reserved
    from spent join wallet using (account_id) where w.account_id = spent.account_id)`;

/** Charges calls of any account, key and session; one statement for all. */
async function chargeAny(
  sql: Sql,
  calls: readonly PaidCall[],
  graph: GraphState | null,
): Promise<ChargedCall[]> {
  return sql<ChargedCall[]>`
    with call as (
      select * from unnest(
        ${calls.map((call) => call.accountId)}::uuid[], ${calls.map((call) => call.keyId)}::uuid[],
        ${calls.map((call) => call.price)}::bigint[],
        ${calls.map((call) => call.reference)}::text[],
        ${calls.map((call) => call.operation)}::text[],
        ${calls.map((call) => call.sessionSha256?.toString('hex') ?? null)}::text[],
        ${calls.map((call) => ownedCode(call.operation))}::smallint[],
        ${calls.map((call) => call.recordId)}::bigint[]
      ) with ordinality c (account_id, key_id, price, reference, operation, session, kind, record_id, place)),
    wallet as (
      select account_id, balance, reserved, balance - reserved as available, owned_days from wallets
      where account_id in (select account_id from call) and ${isInState(sql, graph)}
      order by account_id for update),
    owned as (
      select w.account_id, asked.kind, o.record_id
      from wallet w
        cross join lateral (
          select kind, array_agg(record_id) as ids from call
          where call.account_id = w.account_id and kind is not null group by kind) asked
        cross join lateral ${ownedAmong(sql, {
          accountId: sql`w.account_id`,
          kind: sql`asked.kind`,
          ids: sql`asked.ids`,
          ownedDays: sql`w.owned_days`,
        })} o (record_id)
      where w.owned_days > 0),
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
      select allowed.*, wallet.available, b.credits_per_day - c.taken as today,
        wallet.owned_days > 0 and allowed.kind is not null as is_kept,
        owned.record_id is not null as is_owned, person.present_id,
        row_number() over (partition by account_id, allowed.kind, person.present_id, allowed order by place) > 1
          and wallet.owned_days > 0 and allowed.kind is not null as is_repeat
      from allowed join wallet using (account_id)
        left join owned using (account_id, kind, record_id)
        left join lateral ${presentIds(sql, entityCodes.person, sql`select allowed.record_id`)} person
          on wallet.owned_days > 0 and allowed.kind is not null
        left join budget_row b on b.key_id = allowed.key_id
        left join budget_row c on c.key_id = allowed.credits_of),
    priced as (
      select *, case when is_owned or is_repeat then 0 else price end as cost from purse),
    afforded as (
      select *, case when allowed then cost = 0 or
          sum(cost) filter (where allowed) over (partition by account_id order by place) <= available
          and (today is null or
            sum(cost) filter (where allowed) over (partition by credits_of order by place) <= today)
        end as fits
      from priced),
    answered as (
      -- A repeated call is paid with the first one for the person; without it, the caller tries it alone.
      select *, case when is_repeat and not is_owned and allowed
          then first_value(fits) over (partition by account_id, kind, present_id, allowed order by place)
        else fits end as paid
      from afforded),
    line as (${insertLines(sql)}),
    kept as (${ownFrom(
      sql,
      sql`select account_id, a.kind, a.record_id, line.id
        from answered a join line using (account_id, reference) where a.is_kept`,
    )}),
    ${spendFromWallets(sql)},
    spent_today as (
      select credits_of, sum(cost)::bigint as amount from answered
      where paid and cost > 0 group by credits_of),
    counted as (
      update key_budgets b set ${spendToday(sql, { calls: sql`s.amount`, batches: sql`0` })}
      from spent_today s where b.key_id = s.credits_of)
    select paid, case when paid then cost else 0 end as charged, available - coalesce(spent.amount, 0) as remaining,
      today - coalesce(spent_today.amount, 0) as left_today
    from answered left join spent using (account_id) left join spent_today using (credits_of)
    order by place`;
}
