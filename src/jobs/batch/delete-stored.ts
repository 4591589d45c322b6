/** Deletion of many stored objects, of which one may not be deletable: a missing permission, a lock, a damaged folder. */
import type { Context } from '../../core/context.ts';
import { storeResponds } from './one-object.ts';

/** Names of a page of what is to be deleted; a shorter one is the last. */
export const DELETED_PAGE = 1_000;

/** All pages of names, in their order; `list` returns the one after a name. So none that cannot be deleted keeps others. */
export async function* pagesOf(
  list: (after: string | null) => Promise<string[]>,
): AsyncGenerator<string[], void, undefined> {
  let after: string | null = null;
  for (;;) {
    const page: string[] = await list(after);
    yield page;
    after = page.at(-1) ?? null;
    if (page.length < DELETED_PAGE) return;
  }
}

/**
 * Deletes the object of each of these names, until `mustStop()` is true. Returns the names of those that are deleted; throws as
 * `triedToDelete`.
 */
export async function deleteEach(
  context: Pick<Context, 'store' | 'log'>,
  names: readonly string[],
  { objectOf, mustStop }: { objectOf(name: string): string; mustStop?(): boolean },
): Promise<string[]> {
  const deleted: string[] = [];
  for (const name of names) {
    if (mustStop?.()) break;
    if (await triedToDelete(context, objectOf(name))) deleted.push(name);
  }
  return deleted;
}

/**
 * Runs `work`, which deletes what is stored under `object`, a key or a prefix. Returns false when it fails, with the reason in
 * the log, so that what comes after it is deleted; the next round tries it again. Throws its error when the store does not
 * respond at all: nothing else could be deleted either.
 */
export async function triedToDelete(
  { store, log }: Pick<Context, 'store' | 'log'>,
  object: string,
  work: () => Promise<unknown> = () =>
    object.endsWith('/') ? store.deletePrefix(object) : store.delete(object),
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(await storeResponds(store))) throw error;
    log.error({ err: error, object }, 'object not deleted');
    return false;
  }
}
