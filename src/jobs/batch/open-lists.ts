/** The maximum of an account's open lists and exports, checked before one is recorded. */
import type { Sql } from '../../core/db/client.ts';
import { countOpenBatches } from './insert-batch.sql.ts';

/**
 * True when `openListsMax` lists and exports of the account have not ended. Call in the transaction that would
 * record one more: no other transaction can add one until it ends.
 */
export async function hasMaximumOpen(
  tx: Sql,
  accountId: string,
  openListsMax: number,
): Promise<boolean> {
  return (await countOpenBatches(tx, accountId)) >= openListsMax;
}
