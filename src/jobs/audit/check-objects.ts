/** Reads every stored object of a batch and compares it with the recorded size and checksum. */
import {
  isObjectDamaged,
  isObjectMissing,
  readObject,
  verifyObject,
} from '../../core/storage/object-sum.ts';
import type { Batch } from '../batch/batch.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { isOfOneObject } from '../batch/one-object.ts';
import { personIndexKey } from '../result/part-keys.ts';
import { type PartsContext, readPart } from '../result/read-part.ts';
import { findPartKey } from '../result/redaction.sql.ts';
import { listRecordedParts, type RecordedPart } from './audit.sql.ts';

export interface CheckedObjects {
  /** Number of objects read. */
  checked: number;
  /** Those that were deleted or replaced meanwhile. */
  gone: number;
  damaged: string[];
  missing: string[];
  /** Objects that the store refuses to read or that are on a bad sector, with their errors. */
  unreadable: { key: string; error: unknown }[];
}

interface Reading {
  /** The recorded parts, where they are known. */
  parts?: readonly RecordedPart[];
  /** Gets the bytes of each intact part. */
  visit?: (bytes: Buffer) => void;
  /** Ends the reading once it returns true. */
  mustStop?: () => boolean;
}

/**
 * Reads all objects of a batch, one part in memory at a time. Throws the error of a store that does not respond at all. An
 * object that was deleted or replaced meanwhile is neither damaged nor missing: callers delete lists, and have held ones read
 * in another way.
 */
export async function checkObjects(
  context: PartsContext,
  batch: Batch,
  reading: Reading = {},
): Promise<CheckedObjects> {
  const found: CheckedObjects = { checked: 0, gone: 0, damaged: [], missing: [], unreadable: [] };
  for await (const { key, read } of objectsOf(context, batch, reading)) {
    if (reading.mustStop?.() === true) break;
    found.checked++;
    try {
      await read();
    } catch (error) {
      if (isObjectMissing(error)) found.missing.push(key);
      else if (isObjectDamaged(error)) found.damaged.push(key);
      else if (await isOfOneObject(context.store, error)) found.unreadable.push({ key, error });
      else throw error;
    }
  }
  if (found.damaged.length + found.missing.length === 0) return found;
  const named = await keysNow(context, batch.id);
  const isNamed = (key: string) => named.has(key);
  const [damaged, missing] = [found.damaged.filter(isNamed), found.missing.filter(isNamed)];
  const gone = found.damaged.length + found.missing.length - damaged.length - missing.length;
  return { ...found, gone, damaged, missing };
}

/** The keys of a batch's objects as its row is now; none when its files were deleted. */
async function keysNow(context: PartsContext, id: string): Promise<Set<string>> {
  const keys = new Set<string>();
  const now = await findBatch(context.sql, id);
  if (now?.filesDeletedAt !== null) return keys;
  for await (const { key } of objectsOf(context, now, {})) keys.add(key);
  return keys;
}

interface StoredObject {
  key: string;
  /** Throws `object_missing` or `object_damaged`. */
  read(): Promise<void>;
}

async function* objectsOf(
  context: PartsContext,
  batch: Batch,
  { parts, visit = () => {} }: Reading,
): AsyncGenerator<StoredObject> {
  const { store, sql } = context;
  const whole = (key: string, bytes: number, crc32: number) => ({
    key,
    read: () => verifyObject(store, key, { bytes, crc32 }),
  });
  if (batch.kind === 'list') yield whole(batch.uploadKey, batch.uploadBytes, batch.uploadCrc32);
  const { workbook } = batch.dialect;
  if (workbook !== null) yield whole(workbook.key, workbook.bytes, workbook.crc32);
  const isCopy = batch.kind === 'export' || batch.canonicalKey !== batch.uploadKey;
  const { canonicalKey: key, canonicalBytes: bytes, canonicalCrc32: crc32 } = batch;
  if (isCopy && key !== null && bytes !== null && crc32 !== null) {
    yield whole(key, bytes, crc32);
  }
  for (const part of parts ?? (await listRecordedParts(sql, [batch.id]))) {
    const read = async () => visit(await readPart(context, part));
    yield { key: part.objectKey, read };
    if (part.ids !== null) {
      yield { key: personIndexKey(part.objectKey), read: () => readIds(context, part) };
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
