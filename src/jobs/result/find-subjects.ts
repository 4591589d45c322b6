/** Finds the rows of people in stored results. */
import { isObjectMissing } from '../../core/storage/object-sum.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { isOfOneObject } from '../batch/one-object.ts';
import { type IndexedRecord, indexedSubject } from './person-index.ts';
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
