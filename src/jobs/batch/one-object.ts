/** Errors of one stored object among many: a missing permission, a lock, a damaged folder or sector. */
import type { Context } from '../../core/context.ts';
import { isOfFiles } from '../../core/db/pg-errors.ts';
import { isObjectLost } from '../../core/storage/object-sum.ts';
import { INSTALLATION_KEY } from './own-store.ts';

/** Codes of the file system for a path that this process may not read, or that is not a file. */
const refusedCodes: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EISDIR', 'ENOTDIR']);

/**
 * Returns true when an error of a reader concerns one object and not the store: the object is missing, damaged, refused or on
 * a bad sector, and the store responds.
 */
export async function isOfOneObject(
  store: Pick<Context['store'], 'head'>,
  error: unknown,
): Promise<boolean> {
  const { code } = (error ?? {}) as { code?: unknown };
  const isOfStore =
    isObjectLost(error) ||
    code === 'store_unavailable' ||
    refusedCodes.has(code) ||
    isOfFiles(error);
  return isOfStore && storeResponds(store);
}

/** Returns false when the store does not respond at all: an error of one object is not about that object then. */
export function storeResponds(store: Pick<Context['store'], 'head'>): Promise<boolean> {
  return store.head(INSTALLATION_KEY).then(
    () => true,
    () => false,
  );
}
