/** Commits parts of accounts that pay for each person once. */
import { insertOwned, lockOwned } from '../../core/credits/owned.sql.ts';
import type { Sql } from '../../core/db/client.ts';
import {
  type CommitPart,
  type Committed,
  commitPart,
  lockedSchedule,
  referenceOf,
} from './commit-part.sql.ts';

/**
 * Commits a part that charges for these people, if the account owns none of them yet, and stores that it does. Null,
 * without any change, when another charge paid for one of them since they were priced. Otherwise as `commitPart`.
 * Call in a transaction.
 */
export async function commitPaidOnce(
  tx: Sql,
  part: CommitPart,
  { accountId, people }: { accountId: string; people: readonly number[] },
): Promise<Committed | null | undefined> {
  const { batchId, chunkId, reservationId, operation } = part;
  // In the order of locks; the commit takes them again.
  const [meanwhile] = await tx<{ personId: number }[]>`
    with ${lockedSchedule(tx, part)},
    payer as (
      select b.account_id from batches b join chunks c on c.batch_id = b.id
      where b.id = ${batchId} and c.id = ${chunkId} and (select count(*) from schedule) >= 0
      for update of b, c),
    ${lockOwned(tx, operation, { ids: people, reservationId })} limit 1`;
  if (meanwhile !== undefined) return null;
  const committed = await commitPart(tx, part);
  if (committed === undefined) return undefined;
  await insertOwned(tx, { accountId, operation, reference: referenceOf(part) }, people);
  return committed;
}
