/**
 * Deletes unfinished writes, uploads without a batch, left by a process that died before recording one, files of a list that was
 * deleted while the store failed, and files without an import run, as after a restore of the database. Nothing refers to them, so
 * all objects have to be listed; the id in the key gives their age. A bucket is listed only with the mark of this installation:
 * another one may know the objects.
 */

import { bornAt, isAbandonedWrite } from '../../core/storage/abandoned-write.ts';
import { triedToDelete } from '../batch/delete-stored.ts';
import { isOwnStore } from '../batch/own-store.ts';
import { listWithoutFiles } from '../batch/stored-bytes.sql.ts';
import { findUnknownRuns } from '../imports/delete-runs.ts';
import type { JobContext } from '../queue/job-context.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Ids per lookup. */
const BLOCK = 1000;

/** Folders with a folder for each row, named by its id, and the ids without a row that needs theirs. */
const folders = [
  { folder: 'batches/', listNeedless: listWithoutFiles },
  { folder: 'imports/', listNeedless: findUnknownRuns },
];
const ID = /^[a-z]+\/([0-9a-f-]{36})\//;

/**
 * Deletes orphans older than files are kept, and returns the number of uploads and runs. Safe to repeat and to run
 * concurrently.
 */
export async function deleteOrphans(
  context: Pick<JobContext, 'sql' | 'store' | 'config' | 'log'>,
): Promise<number> {
  const { sql, store, config } = context;
  if (config.storage.provider === 's3' && !(await isOwnStore(context))) return 0;
  const bornBefore = Date.now() - config.filesKeepDays * DAY_MS;
  let deleted = 0;
  const found = folders.map((one) => ({ ...one, ids: new Set<string>() }));
  const flush = async ({ folder, listNeedless, ids }: (typeof found)[number]) => {
    for (const id of await listNeedless(sql, [...ids])) {
      if (await triedToDelete(context, `${folder}${id}/`)) deleted++;
    }
    ids.clear();
  };
  for await (const key of store.list()) {
    if (isAbandonedWrite(key, Date.now())) {
      await triedToDelete(context, key);
      continue;
    }
    const place = found.find(({ folder }) => key.startsWith(folder));
    const [, id] = ID.exec(key) ?? [];
    if (place === undefined || id === undefined || bornAt(id) > bornBefore) continue;
    place.ids.add(id);
    if (place.ids.size === BLOCK) await flush(place);
  }
  for (const place of found) await flush(place);
  return deleted;
}
