/** Deletion of many stored objects, of which one may not be deletable: a missing permission, a lock, a damaged folder. */
import type { Context } from '../../core/context.ts';
import { INSTALLATION_KEY } from './own-store.ts';

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
    const responds = await store.head(INSTALLATION_KEY).then(
      () => true,
      () => false,
    );
    if (!responds) throw error;
    log.error({ err: error, object }, 'object not deleted');
    return false;
  }
}
