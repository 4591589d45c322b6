/** Reads parts of results, whatever happens to them meanwhile. */
import type { Context } from '../../../core/context.ts';
import { AppError } from '../../../core/lib/errors.ts';
import type { Part } from '../queries.ts';
import { findPartKey } from './queries.ts';

/** What reading results takes: both graphs say who opted out. */
export type PartsContext = Pick<Context, 'sql' | 'testSql' | 'store'>;

/**
 * The bytes of a part, or of the object that has replaced it since it was listed, because somebody in it
 * opted out. Throws `AppError` `object_missing`.
 */
export async function readPart(context: PartsContext, part: Part): Promise<Buffer> {
  try {
    return await context.store.get(part.objectKey, { from: 0, to: part.bytes });
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    const now = await findPartKey(context.sql, part);
    if (now === undefined || now.objectKey === part.objectKey) throw error;
    return readPart(context, { ...part, ...now });
  }
}

/** True for what a store throws when there is no such object. */
export function isObjectMissing(error: unknown): boolean {
  return error instanceof AppError && error.code === 'object_missing';
}
