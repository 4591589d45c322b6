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

const REWRITTEN = /^batches\/([0-9a-f-]{36})\/parts\/\d+-\d+-[0-9a-f]{8}-[0-9a-f-]{27}\.csv$/;

/** Returns the batch of the key of a part that was rewritten; null for any other key. */
export function batchOfRewritten(key: string): string | null {
  return REWRITTEN.exec(key)?.[1] ?? null;
}

const CLAIMED = /\/parts\/\d+-\d+-\d+\.csv(\.ids)?$/;

/** Returns true for the key of a part, or of its person index, that a claim wrote: not for a part that was rewritten. */
export function isOfClaim(key: string): boolean {
  return CLAIMED.test(key);
}

/** Returns true when both keys are of the same part. */
export function isSamePart(one: string, other: string): boolean {
  const placeOf = (key: string) => /^.*\/parts\/\d+-\d+-/.exec(key)?.[0];
  return placeOf(one) === placeOf(other);
}

/** Returns the key of a part's person index. */
export function personIndexKey(key: string): string {
  return `${key}.ids`;
}

const PERSON_INDEX = /^(batches\/[^/]+\/parts\/[^/]+\.csv)\.ids$/;

/** Returns the key of the part that a person index belongs to; null for the key of another object. */
export function partOfPersonIndex(key: string): string | null {
  return PERSON_INDEX.exec(key)?.[1] ?? null;
}
