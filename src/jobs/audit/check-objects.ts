/** Reads every stored object of a batch and compares it with the recorded size and checksum. */
import {
  isObjectDamaged,
  isObjectMissing,
  readObject,
  verifyObject,
} from '../../core/storage/object-sum.ts';
import type { Batch } from '../batch/batch.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { personIndexKey } from '../result/part-keys.ts';
import { type PartsContext, readPart } from '../result/read-part.ts';
import { findPartKey } from '../result/redaction.sql.ts';
import { listRecordedParts, type RecordedPart } from './audit.sql.ts';

export interface CheckedObjects {
  /** Number of objects read. */
  checked: number;
  /** Objects among them without a checksum, compared by length only: an earlier version wrote them. */
  unchecked: number;
  damaged: string[];
  missing: string[];
}

/**
 * Reads all objects of a batch, one part in memory at a time, until `mustStop()` is true. `visit` gets the
 * bytes of each intact part. Nothing is damaged or missing when the files were deleted meanwhile.
 */
export async function checkObjects(
  context: PartsContext,
  batch: Batch,
  visit: (bytes: Buffer) => void = () => {},
  mustStop: () => boolean = () => false,
): Promise<CheckedObjects> {
  const found: CheckedObjects = { checked: 0, unchecked: 0, damaged: [], missing: [] };
  for await (const { key, crc32, read } of objectsOf(context, batch, visit)) {
    if (mustStop()) break;
    found.checked++;
    if (crc32 === null) found.unchecked++;
    try {
      await read();
    } catch (error) {
      if (isObjectMissing(error)) found.missing.push(key);
      else if (isObjectDamaged(error)) found.damaged.push(key);
      else throw error;
    }
  }
  if (found.damaged.length + found.missing.length === 0) return found;
  const now = await findBatch(context.sql, batch.id);
  return now?.filesDeletedAt === null ? found : { ...found, damaged: [], missing: [] };
}

interface StoredObject {
  key: string;
  crc32: number | null;
  /** Throws `object_missing` or `object_damaged`. */
  read(): Promise<void>;
}

async function* objectsOf(
  context: PartsContext,
  batch: Batch,
  visit: (bytes: Buffer) => void,
): AsyncGenerator<StoredObject> {
  const { store, sql } = context;
  const whole = (key: string, bytes: number, crc32: number | null) => ({
    key,
    crc32,
    read: () => verifyObject(store, key, { bytes, crc32 }),
  });
  if (batch.kind === 'list') yield whole(batch.uploadKey, batch.uploadBytes, batch.uploadCrc32);
  const { workbook } = batch.dialect;
  if (workbook !== null) yield whole(workbook.key, workbook.bytes, workbook.crc32);
  const isCopy = batch.kind === 'export' || batch.canonicalKey !== batch.uploadKey;
  if (isCopy && batch.canonicalKey !== null && batch.canonicalBytes !== null) {
    yield whole(batch.canonicalKey, batch.canonicalBytes, batch.canonicalCrc32);
  }
  for (const part of await listRecordedParts(sql, batch.id)) {
    const read = async () => visit(await readPart(context, part));
    yield { key: part.objectKey, crc32: part.crc32, read };
    if (part.ids !== null) {
      const { crc32 } = part.ids;
      yield { key: personIndexKey(part.objectKey), crc32, read: () => readIds(context, part) };
    }
  }
}

/** Reads the person index of a part, unless the part was replaced. */
async function readIds({ sql, store }: PartsContext, part: RecordedPart): Promise<void> {
  try {
    if (part.ids !== null) await readObject(store, personIndexKey(part.objectKey), part.ids);
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    const now = await findPartKey(sql, part);
    if (now?.objectKey === part.objectKey) throw error;
  }
}
