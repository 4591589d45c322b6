/** Granting credits. Charging lives with what is charged: see `jobs/batch` for parts. */
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import { AppError } from '../lib/errors.ts';
import { findLedgerAmount, insertGrant, readWallet } from './queries.ts';

/** Credits of an account that nothing has reserved. */
export async function availableCredits(sql: Sql, accountId: string): Promise<number> {
  const { balance, reserved } = must(await readWallet(sql, accountId), `wallet of ${accountId}`);
  return balance - reserved;
}

/**
 * Adds credits to a wallet. The reference makes it safe to repeat: the same reference with the same
 * amount moves nothing and returns the balance. Throws `AppError` `not_found` for an unknown account
 * and `reference_reused` (409) for a reference that moved another amount.
 */
export async function grantCredits(
  sql: Sql,
  grant: { accountId: string; amount: number; reference: string },
): Promise<number> {
  const balance = await insertGrant(sql, grant);
  if (balance !== undefined) return balance;
  const wallet = await readWallet(sql, grant.accountId);
  if (wallet === undefined) {
    throw new AppError({
      code: 'not_found',
      status: 404,
      message: `There is no account ${grant.accountId}.`,
    });
  }
  const before = await findLedgerAmount(sql, grant);
  if (before === grant.amount) return wallet.balance;
  throw new AppError({
    code: 'reference_reused',
    status: 409,
    message: `The reference ${grant.reference} already moved ${before} credits, not ${grant.amount}; choose another reference.`,
  });
}
