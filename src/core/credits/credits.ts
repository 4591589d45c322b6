/** Grants and refunds of credits. */
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import { conflict, invalidParameter, notFound } from '../lib/errors.ts';
import {
  findLedgerAmount,
  insertGrant,
  insertRefund,
  type LedgerRange,
  readWallet,
  selectUsage,
  type UsagePlace,
  type UsageRow,
} from './credits.sql.ts';

/** Returns the credits of an account that are not reserved. */
export async function availableCredits(sql: Sql, accountId: string): Promise<number> {
  const { balance, reserved } = must(await readWallet(sql, accountId), `wallet of ${accountId}`);
  return balance - reserved;
}

/**
 * Maximum of a wallet. A balance that is no exact number here cannot be read, and concurrent calls of other accounts are read in
 * the same statement; sums over thousands of wallets stay exact too.
 */
const BALANCE_MAX = 1_000_000_000_000;

/**
 * Adds credits to a wallet. The reference makes it safe to repeat: the same reference with the same
 * amount moves nothing: `granted` is then false. Throws `AppError` `not_found` for an unknown account,
 * `reference_reused` (409) for a reference that moved another amount, and 400 for more than a wallet may hold.
 */
export async function grantCredits(
  sql: Sql,
  grant: { accountId: string; amount: number; reference: string },
): Promise<{ balance: number; granted: boolean }> {
  const balance = await insertGrant(sql, { ...grant, balanceMax: BALANCE_MAX });
  if (balance !== undefined) return { balance, granted: true };
  const wallet = await readWallet(sql, grant.accountId);
  if (wallet === undefined) {
    throw notFound(`Account ${grant.accountId}`);
  }
  const before = await findLedgerAmount(sql, grant);
  if (before === grant.amount) return { balance: wallet.balance, granted: false };
  if (before === undefined) {
    const most = Math.max(0, BALANCE_MAX - wallet.balance);
    throw invalidParameter('amount', `must be at most ${most}: a wallet holds ${BALANCE_MAX}`);
  }
  throw conflict(
    'reference_reused',
    `The reference ${grant.reference} was already used for another amount: ${before}, not ${grant.amount}. Choose another reference.`,
  );
}

/**
 * Refunds credits that were charged under a reference: all of them, or `amount`. A reference is refunded once: the
 * same refund again moves nothing and returns the balance. Throws `AppError` 404 `not_found` when nothing was
 * charged under the reference, 400 for more than was charged, and 409 `reference_reused` when another amount was
 * refunded before.
 */
export async function refundCredits(
  sql: Sql,
  refund: { accountId: string; reference: string; amount?: number },
): Promise<{ balance: number; refunded: number }> {
  const { accountId, reference } = refund;
  const balance = await insertRefund(sql, { ...refund, amount: refund.amount ?? null });
  const charged = -((await findLedgerAmount(sql, { accountId, reference })) ?? 0);
  const refunded = refund.amount ?? charged;
  if (balance !== undefined) return { balance, refunded };
  if (charged <= 0) {
    throw notFound(`Charge ${reference} of account ${accountId}`);
  }
  if (refunded > charged) {
    throw invalidParameter('amount', `must be at most ${charged}, the charge of ${reference}`);
  }
  const before = await findLedgerAmount(sql, { accountId, reference: `refund:${reference}` });
  if (refund.amount === undefined || before === refund.amount) {
    const wallet = must(await readWallet(sql, accountId), `wallet of ${accountId}`);
    return { balance: wallet.balance, refunded: before ?? refunded };
  }
  throw conflict(
    'reference_reused',
    `A refund of ${before} for ${reference} was already made. A reference is refunded once.`,
  );
}

/**
 * Returns a page of usage, latest first. Reads the last day, then the two before it, then four, until the page is full: not
 * all lines of an account that has many.
 */
export async function listUsage(
  sql: Sql,
  { after, limit, ...range }: LedgerRange & { after: UsagePlace | null; limit: number },
): Promise<UsageRow[]> {
  const rows: UsageRow[] = [];
  let to = after !== null && after[0] < range.to ? after[0] : range.to;
  for (let days = 1; rows.length < limit && to >= range.from; days *= 2) {
    let from = dayBefore(to, days - 1);
    if (from < range.from) from = range.from;
    const some = { ...range, from, to, after, limit: limit - rows.length };
    rows.push(...(await selectUsage(sql, some)));
    to = dayBefore(from, 1);
  }
  return rows;
}

const DAY_MS = 86_400_000;

/** Returns the day, as `2024-01-31`, so many days earlier. */
export function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10);
}
