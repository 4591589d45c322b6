/**
 * Changes to the statements and tables of money, each of which must fail the test named with it: Stryker does
 * not know SQL.
 */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the statements contain them.

import { type Killer, killers } from './killers.ts';

export interface SqlMutant {
  file: string;
  /** Text that the change follows: the head of the function or table. */
  after: string;
  find: string;
  replace: string;
  killer: Killer;
}

/** In one function or table: the text to find, its replacement, and the test that must detect it. */
interface Changed {
  file: string;
  after: string;
  changes: [find: string, replace: string, killer: keyof typeof killers][];
}

const money = 'src/core/credits/credits.sql.ts';
const oneByOne = 'src/core/credits/charge-calls.sql.ts';
const pages = 'src/core/credits/charge-page.sql.ts';
const budgets = 'src/core/credits/key-budgets.sql.ts';
const reservations = 'src/core/credits/reservations.sql.ts';
const spendable = 'src/core/credits/spendable.sql.ts';
const reserving = 'src/jobs/chunk/reserve.sql.ts';
const chunks = 'src/jobs/chunk/commit-part.sql.ts';
const ownership = 'src/core/credits/owned.sql.ts';
const control = 'src/jobs/batch/control-batch.sql.ts';
const app = 'infra/migrations/app';

const changed: Changed[] = [
  {
    file: money,
    after: 'function insertGrant(',
    changes: [
      ["'grant', ${grant.amount}", "'grant', ${grant.amount} + 1", 'grant'],
      ['account_id = ${grant.accountId} and', '', 'grant'],
      ['<= ${grant.balanceMax} for update', '<= ${grant.balanceMax}', 'grant'],
      ['balance = balance + line.amount', 'balance = balance', 'grant'],
      ['where wallets.account_id = line.account_id', '', 'grant'],
    ],
  },
  {
    file: money,
    after: 'function insertRefund(',
    changes: [
      ['where account_id = ${refund.accountId} for', 'for', 'refund'],
      ["and kind = 'charge'", '', 'refund'],
      ['<= -amount)', '<= -amount + 1)', 'refund'],
      ['and charge.is_whole)', ')', 'owned'],
      ['refund:${refund.reference}', 'refund:${refund.reference}:${refund.amount}', 'refund'],
      ['balance = balance + line.amount', 'balance = balance', 'refund'],
      ['where wallets.account_id = line.account_id', '', 'refund'],
    ],
  },
  {
    file: reserving,
    after: 'function reserveForChunk(',
    changes: [
      ['- b.credits_charged', '', 'maxCredits'],
      ['- b.credits_reserved', '', 'reserve'],
      ['and c.epoch = ${epoch}', '', 'leases'],
      ['for update of b, c', 'for update of b', 'leases'],
      ['for update of b, c', 'for update of c', 'reserve'],
      ['credits_reserved = b.credits_reserved + r.amount', 'name = b.name', 'reserve'],
    ],
  },
  {
    file: reserving,
    after: 'function findShortage(',
    changes: [["when b.max_credits < ${price}::bigint then 'max_credits'", '', 'maxCredits']],
  },
  {
    file: control,
    after: 'function startBatch(',
    changes: [['max_credits = least(max_credits, ${creditsMax}::bigint),', '', 'ownedLists']],
  },
  {
    file: control,
    after: 'function resumeBatch(',
    changes: [["and reason <> 'max_credits'", '', 'maxCredits']],
  },
  {
    file: control,
    after: 'function setMaxCredits(',
    changes: [
      ["and reason = 'max_credits'", '', 'maxCredits'],
      ['- credits_charged - credits_reserved >=', '>=', 'maxCredits'],
      ['>= credits_charged + credits_reserved)', '>= credits_charged)', 'maxCredits'],
      ['>= credits_charged + credits_reserved)', '>= credits_reserved)', 'maxCredits'],
      ['and state = any(${[...cappableStates]})', '', 'maxCredits'],
    ],
  },
  {
    file: chunks,
    after: 'function isShort(',
    changes: [
      ['b.max_credits - b.credits_charged', 'b.max_credits', 'maxCredits'],
      ['- b.credits_reserved + ${voided} < ${price}::bigint', '< 1000000', 'maxCredits'],
    ],
  },
  {
    file: chunks,
    after: 'function giveBack(',
    changes: [["and b.reason = 'max_credits' and ${voided} > 0", 'and false', 'maxCredits']],
  },
  {
    file: reservations,
    after: 'function reserveCredits(',
    changes: [
      ['balance - reserved', 'balance', 'reserve'],
      ['(select account_id from payer) for update', '(select account_id from payer)', 'reserve'],
      ['headroom / ${price}::bigint', 'headroom', 'maxCredits'],
      ['available / ${price}::bigint', 'available', 'lists'],
      ['left_today / ${price}::bigint', 'left_today', 'keyOfLists'],
      [
        'greatest(0, least(${matches}::bigint, left_today',
        'least(${matches}::bigint, (left_today',
        'keyOfLists',
      ],
      ['least(by_limit, by_wallet, by_key) as', 'least(by_wallet, by_key) as', 'reserve'],
      ['least(by_limit, by_wallet, by_key) as', 'least(by_limit, by_key) as', 'reserve'],
      ['least(by_limit, by_wallet, by_key) as', 'least(by_limit, by_wallet) as', 'reserve'],
      ['by_key) * ${price}::bigint', 'by_key)', 'lists'],
      ['reserved = wallet.reserved + d.amount', 'reserved = wallet.reserved', 'reserve'],
      ['sql`d.amount`', 'sql`0`', 'keyOfLists'],
      ['(select day from spent)', 'null', 'keyOfLists'],
      ["when granted = by_limit then 'max_credits'", '', 'maxCredits'],
    ],
  },
  {
    file: budgets,
    after: 'function setCreditsPerDay(',
    changes: [
      ['order by b.key_id for', 'order by b.key_id desc for', 'together'],
      ['k.credits_of = ${id})', 'false)', 'together'],
    ],
  },
  {
    file: budgets,
    after: 'function spendToday(',
    changes: [
      ['greatest(b.day, utc_today())', 'utc_today()', 'keyOfLists'],
      ['case when b.day >= utc_today() then b.spent else 0 end', 'b.spent', 'together'],
      ['case when b.day >= utc_today() then b.spent else 0 end', '0', 'together'],
      [
        'case when b.day >= utc_today() then b.spent_by_batches else 0 end',
        'b.spent_by_batches',
        'keyOfLists',
      ],
      ['case when b.day >= utc_today() then b.spent_by_batches else 0 end', '0', 'keyOfLists'],
    ],
  },
  {
    file: budgets,
    after: 'function uncountRefund(',
    changes: [
      ['b.spent - line.amount', 'b.spent', 'refundOfDay'],
      ['greatest(0, b.spent - line.amount)', 'b.spent - line.amount', 'refundOfDay'],
      ['b.key_id = k.credits_of and', '', 'refundOfDay'],
      [' and charge.batch_id is null', '', 'refundOfDay'],
      ["\n        and b.day = (charge.created_at at time zone 'UTC')::date", '', 'refundOfDay'],
    ],
  },
  {
    file: budgets,
    after: 'function budgetRows(',
    changes: [
      ['order by b.key_id for update', 'order by b.key_id', 'together'],
      ['order by b.key_id for update', 'for update', 'together'],
      ['[k.id, k.credits_of]', '[k.id]', 'keyOfLists'],
    ],
  },
  {
    file: oneByOne,
    after: 'function chargePlain(',
    changes: [
      ['balance - reserved', 'balance', 'together'],
      [' and owned_days = 0', '', 'together'],
      ['and ${isInState(sql, graph)}', '', 'copiedCalls'],
      ['order by account_id for update', 'order by account_id', 'together'],
      ['order by account_id for update', 'for update', 'together'],
      ['[k.id, k.credits_of]', '[]::uuid[]', 'together'],
      ['[k.id, k.credits_of]', '[k.id]', 'together'],
      ['and is_valid(k)', '', 'together'],
      ['order by k.id for share', 'order by k.id', 'together'],
      ['filter (where key.key_id is not null)', '', 'together'],
      ['account_id order by place) <=', 'account_id) <=', 'together'],
      ['<= wallet.available', '<= wallet.available + 1', 'calls'],
      ['where (select count(*) from wallet) =', 'where 0 <>', 'together'],
      ['not exists (select from key where is_bound)', 'true', 'together'],
    ],
  },
  {
    file: oneByOne,
    after: 'const insertLines =',
    changes: [
      ["'charge', -cost,", "'charge', -1,", 'together'],
      ['where paid and cost > 0', 'where cost > 0', 'calls'],
      ['where paid and cost > 0', 'where paid', 'owned'],
    ],
  },
  {
    file: oneByOne,
    after: 'const spendFromWallets =',
    changes: [
      ['where paid and cost > 0', 'where cost > 0', 'calls'],
      ['balance = wallet.balance - spent.amount', 'balance = wallet.balance', 'calls'],
      ['reserved = wallet.reserved', 'reserved = w.reserved', 'together'],
      ['where w.account_id = spent.account_id', '', 'together'],
    ],
  },
  {
    file: oneByOne,
    after: 'function chargeAny(',
    changes: [
      ['balance - reserved', 'balance', 'together'],
      ['and ${isInState(sql, graph)}', '', 'copiedCallsOfAny'],
      ['order by account_id for update', 'order by account_id', 'together'],
      ['order by account_id for update', 'for update', 'together'],
      ['and is_valid(k)', '', 'together'],
      ['and expires_at > clock_timestamp()', '', 'together'],
      ['order by k.id for share', 'order by k.id', 'together'],
      ['order by token_sha256 for share', 'order by token_sha256', 'together'],
      [
        'filter (where allowed) over (partition by account_id',
        'over (partition by account_id',
        'together',
      ],
      ['account_id order by place) <=', 'account_id) <=', 'together'],
      ['<= available', '<= available + 1', 'together'],
      ['<= today)', '<= today + 1)', 'keyOfCalls'],
      ['credits_of order by place) <=', 'credits_of) <=', 'together'],
      ['cost = 0 or', 'cost < 0 or', 'owned'],
      [
        'then first_value(fits) over (partition by account_id, kind, present_id, allowed order by place)',
        'then true',
        'owned',
      ],
      ['allowed.kind, person.present_id, allowed', 'allowed.kind, record_id, allowed', 'joined'],
      ['where a.is_kept', 'where true', 'owned'],
      ['sql`s.amount`', 'sql`0`', 'keyOfCalls'],
      [
        'where paid and cost > 0 group by credits_of',
        'where cost > 0 group by credits_of',
        'keyOfCalls',
      ],
    ],
  },
  {
    file: pages,
    after: 'function chargePage(',
    changes: [
      ['balance - reserved', 'balance', 'together'],
      ['${page.accountId} for update', '${page.accountId}', 'search'],
      ['and is_valid(k)', '', 'together'],
      ['and expires_at > clock_timestamp()', '', 'together'],
      ['least(wallet.available, budget.available)', 'wallet.available', 'search'],
      ['least(wallet.available, budget.available)', 'budget.available', 'search'],
      ['affordable >=', 'affordable + 1 >=', 'search'],
      ['else -1 end', 'else affordable end', 'search'],
      [' / ${page.price}::bigint', '', 'together'],
      ['sql`units * ${page.price}::bigint`', 'sql`units`', 'together'],
      ["'charge', -${amount}", "'charge', -1", 'search'],
      ['from decided where units > 0', 'from decided where units > 1000', 'search'],
      ['coalesce(present.present_id, p.id)', 'p.id', 'joined'],
      ['where d.owned_days > 0', 'where true', 'owned'],
      ['person.new_people <= d.units', 'true', 'owned'],
      ['balance = wallet.balance - ${amount}', 'balance = wallet.balance', 'search'],
      ['reserved = wallet.reserved', 'reserved = w.reserved', 'together'],
      ['calls: amount', 'calls: sql`0`', 'together'],
    ],
  },
  {
    file: `${app}/0001-baseline.sql`,
    after: 'create function owned_of(',
    changes: [['volatile', 'stable', 'owned']],
  },
  {
    file: ownership,
    after: 'function ownedPeople(',
    changes: [
      [' and o.kind = ${ownedCode(operation)}::smallint', '', 'ownedLists'],
      ['>= 0 for update)', '>= 0)', 'ownedLists'],
      ['having count(*) > 1', 'having false', 'ownedLists'],
      [
        'do update set charge_id = excluded.charge_id, paid_at = excluded.paid_at',
        'do nothing',
        'owned',
      ],
    ],
  },
  {
    file: 'src/core/graph/merged-ids.sql.ts',
    after: 'function joinedIds(',
    changes: [['where present_id <> present.id', 'where false', 'joinedAnew']],
  },
  {
    file: 'src/core/graph/sources/settle.sql.ts',
    after: 'function moveRecords(',
    changes: [['and m.after not in (m.before, i.id)', 'and false', 'joinedAnew']],
  },
  {
    file: 'src/jobs/batch/reruns.sql.ts',
    after: 'function areJoined(',
    changes: [
      ['having count(*) > 1', 'having false', 'joinedRows'],
      ['on record_id = joined_id', 'on false', 'joinedRows'],
    ],
  },
  {
    file: 'src/jobs/batch/reruns.sql.ts',
    after: 'function deleteUnneededRecords(',
    changes: [
      ['where not exists (select from kept)', '', 'rerunsOfDeleted'],
      [
        'where exists (select from upwards',
        'where false and exists (select from upwards',
        'rerunsOfDeleted',
      ],
    ],
  },
  {
    file: chunks,
    after: 'function referenceOf(',
    changes: [[':${part.number}`', '`', 'lists']],
  },
  {
    file: chunks,
    after: 'function commitPart(',
    changes: [
      ['and ${isInState(sql, part.graph)} for update', 'for update', 'localCopy'],
      [
        "state = 'cancelling' and ${part.reservationId}::bigint is null",
        "state = 'cancelling'",
        'reserve',
      ],
      ['and c.epoch = ${part.epoch}', '', 'leases'],
      ['exists (select from price)', 'true', 'ownedLists'],
      ['units: counts.matched', 'units: part.rows', 'lists'],
      ['b.credits_charged + coalesce', 'b.credits_charged + 0 * coalesce', 'lists'],
      ['b.credits_reserved - coalesce', 'b.credits_reserved - 0 * coalesce', 'lists'],
    ],
  },
  {
    file: 'src/core/graph-copy/copy.sql.ts',
    after: 'function hasState(',
    changes: [['where ${isInState(sql, state)}', '', 'copiedMisses']],
  },
  {
    file: reservations,
    after: 'function settleReservation(',
    changes: [
      ["state = 'settled', ended_at = clock_timestamp()", 'amount = r.amount', 'lists'],
      ['balance = w.balance - r.amount,', '', 'lists'],
      [', reserved = w.reserved - r.amount', '', 'lists'],
      ["'charge', -r.amount", "'charge', -1", 'lists'],
    ],
  },
  {
    file: spendable,
    after: 'function creditsAvailable(',
    changes: [['- wallet.reserved', '', 'reserve']],
  },
  {
    file: spendable,
    after: 'function creditsLeftToday(',
    changes: [['- credits_taken_today(counter)', '', 'keyOfLists']],
  },
  {
    file: chunks,
    after: 'function releaseChunk(',
    changes: [
      ['and epoch = ${held.epoch}', '', 'leases'],
      ['sql`coalesce((select sum(amount) from voided), 0)`', 'sql`0`', 'crash'],
    ],
  },
  {
    file: reservations,
    after: 'function voidReservations(',
    changes: [
      ["state = 'voided', ended_at = clock_timestamp()", 'amount = r.amount', 'leases'],
      ["and r.state = 'open'", '', 'secondPart'],
      ['reserved = w.reserved - v.amount', 'reserved = w.reserved', 'leases'],
      ['spent_by_batches = k.spent_by_batches - v.amount', 'day = k.day', 'keyOfLists'],
      ['and k.day = v.budget_day', '', 'keyOfLists'],
      ['order by account_id for update', 'order by account_id desc for update', 'leases'],
    ],
  },
  {
    file: chunks,
    after: 'function reclaimChunks(',
    changes: [
      [
        'and not ${isClaimed(sql, sql`lease_until`)}\n      returning id',
        '\n      returning id',
        'leases',
      ],
      ['sql`v.amount`', 'sql`0`', 'leases'],
    ],
  },
  {
    file: `${app}/0001-baseline.sql`,
    after: 'create table wallets',
    changes: [
      ['0 <= reserved and reserved <= balance', 'reserved <= balance', 'walletBounds'],
      ['0 <= reserved and reserved <= balance', '0 <= reserved', 'walletBounds'],
    ],
  },
  {
    file: `${app}/0001-baseline.sql`,
    after: 'create table ledger_entries',
    changes: [
      ['check (amount <> 0)', '', 'ledgerLines'],
      ["check ((kind = 'charge') = (amount < 0))", 'check (true)', 'ledgerLines'],
      ['unique (account_id, reference)', 'unique (account_id, reference, amount)', 'ledgerOnce'],
      ['before update or delete', 'before update', 'ledgerKept'],
      ['before update or delete', 'before delete', 'ledgerKept'],
      ['before truncate on ledger_entries', 'before truncate on api_keys', 'ledgerKept'],
    ],
  },
  {
    file: `${app}/0001-baseline.sql`,
    after: 'create table reservations',
    changes: [
      ['create unique index reservations_open', 'create index reservations_open', 'leases'],
    ],
  },
  {
    file: 'src/core/credits/key-budgets.sql.ts',
    after: 'export function tighterKey',
    changes: [
      ['loose.credits_per_day is null or', 'false or', 'keyOfLists'],
      ['tight.credits_per_day < loose', 'tight.credits_per_day > loose', 'keyOfLists'],
      ['tight.credits_per_day is not null', 'true', 'keyOfLists'],
    ],
  },
  {
    file: `${app}/0001-baseline.sql`,
    after: 'create function credits_taken_today',
    changes: [
      ['counter.day >= utc_today()', 'counter.day = utc_today()', 'keyOfLists'],
      ['counter.spent + counter.spent_by_batches', 'counter.spent', 'keyOfLists'],
      ['counter.spent + counter.spent_by_batches', 'counter.spent_by_batches', 'keyOfCalls'],
    ],
  },
];

export const sqlMutants: SqlMutant[] = changed.flatMap(({ file, after, changes }) =>
  changes.map(([find, replace, killer]) => ({
    ...{ file, after, find, replace },
    killer: killers[killer],
  })),
);
