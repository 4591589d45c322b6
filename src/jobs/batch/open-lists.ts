/** The maximum of an account's open lists and exports, checked before one is recorded. */
import type { Sql } from '../../core/db/client.ts';
import { countOpenBatches, lockFreeAccount } from './insert-batch.sql.ts';

/**
 * Returns true when `openListsMax` lists and exports of the account have not ended; null at once while a call or another worker
 * holds the account. Call it in the transaction that would record one more: no other transaction can add one until it ends.
 */
export async function hasMaximumOpen(
  tx: Sql,
  accountId: string,
  openListsMax: number,
): Promise<boolean | null> {
  if (!(await lockFreeAccount(tx, accountId))) return null;
  return (await countOpenBatches(tx, accountId)) >= openListsMax;
}
