/** Deletes the files of ended import runs at once, and the runs after some weeks. The graph keeps the history of imports. */
import type { Sql } from '../../core/db/client.ts';
import { triedToDelete } from '../batch/delete-stored.ts';
import type { JobContext } from '../queue/job-context.ts';
import {
  deleteRuns,
  expireRuns,
  listEndedRuns,
  listOldRuns,
  listUnknownRuns,
  markFilesDeleted,
} from './import-runs.sql.ts';

/** The objects of the files of a run are under this prefix. */
export const filesPrefix = (id: string) => `imports/${id}/files/`;

type RunsContext = Pick<JobContext, 'sql' | 'store' | 'log'>;

/** Returns those of these ids that no run has: files under them belong to none. */
export function findUnknownRuns(sql: Sql, ids: string[]): Promise<string[]> {
  return listUnknownRuns(sql, ids);
}

/** Deletes objects before it marks their runs: after a crash they are deleted again. */
export async function deleteFiles(context: RunsContext): Promise<void> {
  const { sql } = context;
  const ids = await deleteEach(context, await listEndedRuns(sql), filesPrefix);
  if (ids.length > 0) await markFilesDeleted(sql, ids);
}

/** Returns the ids of the runs whose objects were deleted. */
async function deleteEach(
  context: RunsContext,
  runs: readonly { id: string }[],
  prefixOf: (id: string) => string,
): Promise<string[]> {
  const deleted: string[] = [];
  for (const { id } of runs) {
    if (await triedToDelete(context, prefixOf(id))) deleted.push(id);
  }
  return deleted;
}

/** Ends runs that were left for a day, and deletes old ones with their rejected rows. */
export async function deleteOldRuns(
  context: RunsContext & Pick<JobContext, 'config'>,
): Promise<void> {
  const { sql, config } = context;
  await expireRuns(sql);
  await deleteFiles(context);
  const old = await listOldRuns(sql, config.filesKeepDays);
  const ids = await deleteEach(context, old, (id) => `imports/${id}/`);
  if (ids.length > 0) await deleteRuns(sql, ids);
}
