/** The bound on an account's open lists and exports, for what asks before it records one. */
import type { Sql } from '../../core/db/client.ts';
import { countOpenBatches } from './insert-batch.sql.ts';

/**
 * Whether `openListsMax` lists and exports of the account have not ended. Call in the transaction that records one
 * more otherwise: no other one adds any until it ends.
 */
export async function hasMaximumOpen(
  tx: Sql,
  accountId: string,
  openListsMax: number,
): Promise<boolean> {
  return (await countOpenBatches(tx, accountId)) >= openListsMax;
}
