/** People that an account owns: it has paid for them and is not charged for them again. See `owned.sql.ts`. */
import type { Sql } from '../db/client.ts';
import { invalidParameter, notFound } from '../lib/errors.ts';
import { ownedBy, type PricedOperation } from '../operations.ts';
import { deleteOwned, readOwnedDays, selectOwned, setOwnedDays } from './owned.sql.ts';

/** Maximum of `owned_days`: ten years. */
const OWNED_DAYS_MAX = 3650;

/**
 * Sets for how many days after a charge an account is not charged again for the same person; 0 charges each delivery.
 * People paid for while it was 0 are not known. Throws `AppError` 400 for a number out of range, 404 for an unknown
 * account.
 */
export async function changeOwnedDays(sql: Sql, accountId: string, days: number): Promise<void> {
  if (!Number.isInteger(days) || days < 0 || days > OWNED_DAYS_MAX) {
    throw invalidParameter('owned_days', `must be a whole number from 0 to ${OWNED_DAYS_MAX}`);
  }
  if (!(await setOwnedDays(sql, accountId, days))) throw notFound(`Account ${accountId}`);
}

interface Delivery {
  accountId: string;
  live: boolean;
  operation: PricedOperation;
}

/** Returns true when an account with these `owned_days` pays for each person once by this operation. */
export function isPaidOnce(
  { live, operation }: Pick<Delivery, 'live' | 'operation'>,
  ownedDays: number,
): boolean {
  return ownedDays > 0 && live && ownedBy(operation) !== null;
}

/** Returns true when the account pays for each person once by this operation, at present. */
export async function paysOnce(sql: Sql, delivery: Delivery): Promise<boolean> {
  const ownedDays = (await readOwnedDays(sql, delivery.accountId)) ?? 0;
  return isPaidOnce(delivery, ownedDays);
}

/** Returns those of the people whose delivery would cost the account nothing now. */
export async function findOwned(
  sql: Sql,
  { accountId, operation }: Pick<Delivery, 'accountId' | 'operation'>,
  ids: readonly number[],
): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  return new Set(await selectOwned(sql, accountId, operation, ids));
}

/** Forgets who owns these people. */
export async function disown(sql: Sql, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await deleteOwned(sql, ids);
}
