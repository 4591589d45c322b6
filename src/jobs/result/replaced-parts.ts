/**
 * Parts that an opt-out replaced after the moment to which the database went back: it names the objects of before, which were
 * deleted, and the store has those that took their place. The rows and what they cost are the same.
 */
import type { Database } from '../../core/db/client.ts';
import type { ObjectStore, ObjectSum } from '../../core/storage/object-store.ts';
import { sumOf } from '../../core/storage/object-sum.ts';
import type { Batch } from '../batch/batch.ts';
import { isSamePart, personIndexKey } from './part-keys.ts';
import { scanPart } from './part-records.ts';
import { decodePersonIndex } from './person-index.ts';
import { adoptPart, listPartsDueForRedaction, type PlacedPart } from './redaction.sql.ts';
import { layoutOf } from './result-layout.ts';

interface StoreContext {
  sql: Database;
  store: Pick<ObjectStore, 'head' | 'get'>;
}

/** A part, and the object that replaced the one that the database names. */
export interface Replacement {
  part: PlacedPart;
  key: string;
  sum: ObjectSum;
  ids: ObjectSum;
}

/**
 * Returns the replacement of each missing object of a batch; null when one of them has none.
 * @param missing keys of parts and person indexes, as `checkObjects` returns them
 * @param rewritten keys of the parts of the batch in the store that were rewritten
 */
export async function findReplacements(
  context: StoreContext,
  batch: Batch,
  missing: readonly string[],
  rewritten: readonly string[],
): Promise<Replacement[] | null> {
  // Only parts with people are ever replaced.
  const replaceable = await listPartsDueForRedaction(
    context.sql,
    batch.id,
    Number.MAX_SAFE_INTEGER,
  );
  const lost = new Set(missing);
  const parts = replaceable.filter(
    ({ objectKey: key }) => lost.has(key) || lost.has(personIndexKey(key)),
  );
  const keys = new Set(parts.flatMap(({ objectKey: key }) => [key, personIndexKey(key)]));
  if (missing.some((key) => !keys.has(key))) return null;
  const replacements: Replacement[] = [];
  for (const part of parts) {
    const found = await findReplacement(context, batch, part, rewritten);
    if (found === null) return null;
    replacements.push(found);
  }
  return replacements;
}

/** Records the replacements. What another doctor has recorded meanwhile stays. */
export async function adoptReplacements(
  { sql }: StoreContext,
  replacements: readonly Replacement[],
): Promise<void> {
  for (const { part, key, sum, ids } of replacements) {
    await adoptPart(sql, part, { key, keys: [key, personIndexKey(key)], part: sum, ids });
  }
}

/** The newest one is without all who opted out: its id is a UUID 7, which has the time. */
async function findReplacement(
  { store }: StoreContext,
  batch: Batch,
  part: PlacedPart,
  rewritten: readonly string[],
): Promise<Replacement | null> {
  const own = rewritten.filter((key) => key !== part.objectKey && isSamePart(key, part.objectKey));
  for (const key of own.sort().reverse()) {
    const [bytes, ids] = [await read(store, key), await read(store, personIndexKey(key))];
    if (bytes === null || ids === null || !isOfPart(batch, part, bytes, ids)) continue;
    return { part, key, sum: sumOf([bytes]), ids: sumOf([ids]) };
  }
  return null;
}

/** A list keeps each row, an export loses those of people who opted out. */
function isOfPart(batch: Batch, part: PlacedPart, bytes: Buffer, ids: Buffer): boolean {
  const { count } = scanPart(bytes, layoutOf(batch).delimiter);
  const isWhole = batch.kind === 'list' ? count === part.rows : count <= part.rows;
  return isWhole && decodePersonIndex(ids).every(({ row }) => row < count);
}

async function read(store: StoreContext['store'], key: string): Promise<Buffer | null> {
  const size = await store.head(key);
  return size === null ? null : store.get(key, { from: 0, to: size });
}
