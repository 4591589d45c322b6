/** The keys of a part's objects. */

/**
 * Returns the key of a part. `writer` is the epoch of the worker, so a worker with an old lease writes another object;
 * or a new id for a part that is rewritten.
 */
export function partKey(
  part: { batchId: string; chunkNumber: number; number: number },
  writer: number | string,
): string {
  return `batches/${part.batchId}/parts/${part.chunkNumber}-${part.number}-${writer}.csv`;
}

/** Returns the key of a part's person index. */
export function personIndexKey(key: string): string {
  return `${key}.ids`;
}
