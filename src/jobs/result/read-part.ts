/** Reads parts of results, even while they are replaced. */
import type { Context } from '../../core/context.ts';
import { type AppError, notNow } from '../../core/lib/errors.ts';
import { isObjectMissing, readObject } from '../../core/storage/object-sum.ts';
import { personIndexKey } from './part-keys.ts';
import type { Part } from './parts.sql.ts';
import { decodePersonIndex, type IndexedRecord } from './person-index.ts';
import { findPartKey, type IndexedPart } from './redaction.sql.ts';

/** The dependencies of reading results: both graphs have opt-outs. */
export interface PartsContext extends Pick<Context, 'sql' | 'testSql' | 'store'> {
  /** Aborts when no one waits for the result any more. */
  signal?: AbortSignal;
}

type StoredPart = Pick<
  Part,
  'batchId' | 'chunkNumber' | 'number' | 'objectKey' | 'bytes' | 'crc32'
>;

/**
 * The bytes of a part, or of the object that replaced it since it was listed because of an opt-out. Throws
 * `AppError` `object_missing` or `object_damaged`.
 */
export function readPart(context: PartsContext, part: StoredPart): Promise<Buffer> {
  return atPresentKey(context, part, (now) => readObject(context.store, now.objectKey, now));
}

/** Reads a part where it is stored. Throws what `read` throws. */
export type ReadAtKey = <Listed extends StoredPart, Found>(
  context: PartsContext,
  part: Listed,
  read: (part: Listed) => Promise<Found>,
) => Promise<Found>;

/** Reads a part, or the object that replaced it since it was listed. */
export const atPresentKey: ReadAtKey = async (context, part, read) => {
  try {
    return await read(part);
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    const now = await findPartKey(context.sql, part);
    if (now === undefined || now.objectKey === part.objectKey) throw error;
    return atPresentKey(context, { ...part, ...now }, read);
  }
};

/** Reads a part as it was listed. Throws 503 `result_changing` when another object has replaced it since. */
export const atListedKey: ReadAtKey = (context, part, read) =>
  atPresentKey(context, part, (now) => {
    if (now.objectKey !== part.objectKey) throw resultChanging();
    return read(now);
  });

/** 503 for a result that changes while it is read. */
export function resultChanging(): AppError {
  return notNow('result_changing', 'People in this result opted out while it was read. Try again.');
}

/** The person index of a part. Throws as `readPart`. */
export async function readIndexedRecords(
  store: Context['store'],
  { objectKey, ids }: IndexedPart,
): Promise<IndexedRecord[]> {
  const key = personIndexKey(objectKey);
  return decodePersonIndex(await readObject(store, key, ids));
}
