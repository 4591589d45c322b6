/** Deletes parts that no reader knows. */
import { batchOfKey } from '../batch/batch-keys.ts';
import { isOfClaim } from './part-keys.ts';
import { listAbandonedParts } from './parts.sql.ts';
import type { PartsContext } from './read-part.ts';

/** Deletes those of these objects that are parts, or person indexes, which no commit has recorded, nor will. */
export async function deleteAbandonedParts(
  { sql, store }: PartsContext,
  keys: readonly string[],
): Promise<void> {
  const parts = keys.filter((key) => isOfClaim(key) && batchOfKey(key) !== null);
  for (const key of await listAbandonedParts(sql, parts)) await store.delete(key);
}
