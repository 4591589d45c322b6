/** Deletes the files of ended import runs at once, and the runs after some weeks. The graph keeps the history of imports. */
import type { Sql } from '../../core/db/client.ts';
import { deleteEach, pagesOf } from '../batch/delete-stored.ts';
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
  for await (const page of pagesOf((after) => listEndedRuns(sql, after))) {
    const ids = await deleteEach(context, page, { objectOf: filesPrefix });
    if (ids.length > 0) await markFilesDeleted(sql, ids);
  }
}

/** Ends runs that were left for a day, and deletes old ones with their rejected rows. */
export async function deleteOldRuns(
  context: RunsContext & Pick<JobContext, 'config'>,
): Promise<void> {
  const { sql, config } = context;
  await expireRuns(sql);
  await deleteFiles(context);
  for await (const page of pagesOf((after) => listOldRuns(sql, config.filesKeepDays, after))) {
    const ids = await deleteEach(context, page, { objectOf: (id) => `imports/${id}/` });
    if (ids.length > 0) await deleteRuns(sql, ids);
  }
}
