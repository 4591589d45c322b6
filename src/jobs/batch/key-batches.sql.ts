import type { Sql } from '../../core/db/client.ts';
import type { Batch } from './batch.ts';
import { batchColumns } from './batches.sql.ts';
import { cancellableStates } from './states.ts';

/** The batches of these keys that can still be cancelled, oldest first. */
export async function listOpenBatchesOfKeys(sql: Sql, keyIds: readonly string[]): Promise<Batch[]> {
  return sql<Batch[]>`
    select ${batchColumns(sql)} from batches
    where key_id = any(${[...keyIds]}::uuid[]) and state = any(${cancellableStates})
    order by created_at, id`;
}
