/** Deletes the files of ended import runs at once, and the runs after some weeks. The graph keeps the history of imports. */
import type { JobContext } from '../queue/job-context.ts';
import {
  deleteRuns,
  expireRuns,
  listEndedRuns,
  listOldRuns,
  markFilesDeleted,
} from './import-runs.sql.ts';

/** The objects of the files of a run are under this prefix. */
export const filesPrefix = (id: string) => `imports/${id}/files/`;

/** Deletes objects before it marks their runs: after a crash they are deleted again. */
export async function deleteFiles({
  sql,
  store,
}: Pick<JobContext, 'sql' | 'store'>): Promise<void> {
  const ended = await listEndedRuns(sql);
  for (const { id } of ended) await store.deletePrefix(filesPrefix(id));
  const ids = ended.map(({ id }) => id);
  if (ids.length > 0) await markFilesDeleted(sql, ids);
}

/** Ends runs that were left for a day, and deletes old ones with their rejected rows. */
export async function deleteOldRuns(
  context: Pick<JobContext, 'sql' | 'store' | 'config'>,
): Promise<void> {
  const { sql, store, config } = context;
  await expireRuns(sql);
  await deleteFiles(context);
  const old = await listOldRuns(sql, config.filesKeepDays);
  for (const { id } of old) await store.deletePrefix(`imports/${id}/`);
  const ids = old.map(({ id }) => id);
  if (ids.length > 0) await deleteRuns(sql, ids);
}
