/**
 * Deletes unfinished writes, and uploads without a batch, left by a process that died before recording one. Nothing refers to them, so
 * all objects have to be listed; the id in the key gives their age. A bucket is listed only with the mark of this installation:
 * another one may know the objects.
 */

import { bornAt, isAbandonedWrite } from '../../core/storage/abandoned-write.ts';
import { batchOfKey } from '../batch/batch-keys.ts';
import { triedToDelete } from '../batch/delete-stored.ts';
import { isOwnStore } from '../batch/own-store.ts';
import { listUnknownBatches } from '../batch/stored-bytes.sql.ts';
import type { JobContext } from '../queue/job-context.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Ids per lookup. */
const BLOCK = 1000;

/**
 * Deletes orphans older than files are kept, and returns the number of uploads. Safe to repeat and to run
 * concurrently.
 */
export async function deleteOrphans(
  context: Pick<JobContext, 'sql' | 'store' | 'config' | 'log'>,
): Promise<number> {
  const { sql, store, config } = context;
  const isBucket = config.storage.provider === 's3';
  if (isBucket && !(await isOwnStore(context))) return 0;
  const bornBefore = Date.now() - config.filesKeepDays * DAY_MS;
  let deleted = 0;
  let ids = new Set<string>();
  const flush = async () => {
    for (const id of await listUnknownBatches(sql, [...ids])) {
      if (await triedToDelete(context, `batches/${id}/`)) deleted++;
    }
    ids = new Set();
  };
  for await (const key of store.list(isBucket ? 'batches/' : undefined)) {
    if (isAbandonedWrite(key, Date.now())) {
      await triedToDelete(context, key);
      continue;
    }
    const id = batchOfKey(key);
    if (id === null || bornAt(id) > bornBefore) continue;
    ids.add(id);
    if (ids.size === BLOCK) await flush();
  }
  await flush();
  return deleted;
}
