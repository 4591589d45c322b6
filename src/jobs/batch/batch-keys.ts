/** Keys of the objects of batches: all of one begin with its id. */

const OF_BATCH = /^batches\/([0-9a-f-]{36})\//;

/** Returns the id of the batch that an object belongs to; null for the key of anything else. */
export function batchOfKey(key: string): string | null {
  return OF_BATCH.exec(key)?.[1] ?? null;
}
