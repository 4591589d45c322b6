/** Finds the rows of people in stored results. */
import { buffer } from 'node:stream/consumers';
import { isObjectMissing } from '../../core/storage/object-sum.ts';
import { batchOfKey } from '../batch/batch-keys.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { isOfOneObject } from '../batch/one-object.ts';
import { personIndexKey } from './part-keys.ts';
import { decodePersonIndex, type IndexedRecord, indexedSubject } from './person-index.ts';
import { type PartsContext, readIndexedRecords } from './read-part.ts';
import {
  listBatchesShowingPeople,
  listPartsShowingPeople,
  type PlacedPart,
} from './redaction.sql.ts';

export interface ShownPerson {
  personId: number;
  batchId: string;
  accountId: string;
  objectKey: string;
  /** Row numbers within the part, from 1; none for a part of which it cannot be read. */
  rows: number[];
}

/** The parts of live results that contain one of these people. Reads the person index of every part. */
export async function findPartsOf(
  { sql, store }: PartsContext,
  ids: readonly number[],
): Promise<ShownPerson[]> {
  const found: ShownPerson[] = [];
  for (const batchId of await listBatchesShowingPeople(sql, true)) {
    const batch = await findBatch(sql, batchId);
    const subject = batch && indexedSubject(batch);
    if (!batch || !subject) continue;
    const idOf = new Map(ids.map((id) => [subject === 'person' ? id : -id, id]));
    for (const part of await listPartsShowingPeople(sql, batchId)) {
      const { objectKey } = part;
      const shown = await readPersonIndex(store, part);
      const { accountId } = batch;
      if (shown === null) {
        const about = { batchId, accountId, objectKey, rows: [] };
        found.push(...ids.map((personId) => ({ ...about, personId })));
        continue;
      }
      for (const [shownId, personId] of idOf) {
        const pairs = shown.filter(({ id }) => id === shownId);
        // One person may be a director of a company several times.
        const rows = [...new Set(pairs.map(({ row }) => row + 1))];
        if (rows.length > 0) found.push({ personId, batchId, accountId, objectKey, rows });
      }
    }
  }
  return found;
}

/**
 * Returns true when the stored part has one of these people by its person index: also a part that no commit has recorded, or that
 * was replaced and could not be deleted.
 */
export async function isPartOf(
  { sql, store }: PartsContext,
  objectKey: string,
  ids: readonly number[],
): Promise<boolean> {
  const bytes = await buffer(store.getStream(personIndexKey(objectKey))).catch((error: unknown) => {
    if (isObjectMissing(error)) return Buffer.alloc(0);
    throw error;
  });
  const shown = decodePersonIndex(bytes).filter(({ id }) => ids.includes(Math.abs(id)));
  if (shown.length === 0 || (await store.head(objectKey)) === null) return false;
  const batchId = batchOfKey(objectKey);
  const batch = batchId === null ? undefined : await findBatch(sql, batchId);
  if (batch?.live === false) return false;
  const isOfCompanies = batch !== undefined && indexedSubject(batch) === 'company';
  return shown.some(({ id }) => id < 0 === isOfCompanies);
}

/** The people in a part; null when that cannot be read. A part that was replaced or deleted meanwhile contains none. */
async function readPersonIndex(
  store: PartsContext['store'],
  part: Pick<PlacedPart, 'objectKey' | 'ids'>,
): Promise<IndexedRecord[] | null> {
  try {
    return await readIndexedRecords(store, part);
  } catch (error) {
    if (isObjectMissing(error)) return [];
    if (await isOfOneObject(store, error)) return null;
    throw error;
  }
}
