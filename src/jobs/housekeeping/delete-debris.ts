/**
 * Deletes objects that work left behind without effect: parts of workers that lost their lease, rewritten parts that
 * were not recorded, and objects written while the files of a batch were being deleted. Only batches in which there may be
 * some are listed. No worker writes to a batch a day after its end.
 */

import { readClock } from '../../core/db/clock.ts';
import { listRecentlyDeleted, listReclaimed } from '../batch/batches.sql.ts';
import { deleteEach, pagesOf, triedToDelete } from '../batch/delete-stored.ts';
import type { JobContext } from '../queue/job-context.ts';
import { isOfClaim, personIndexKey } from '../result/part-keys.ts';
import { listPartKeys } from '../result/parts.sql.ts';
import { deleteDiscarded, endFutureDiscards, listDiscarded } from '../result/redaction.sql.ts';

type DebrisContext = Pick<JobContext, 'sql' | 'store' | 'log'>;

/** The time of a process's last round that was whole; null before the first one. */
export interface DebrisSeen {
  until: Date | null;
}

/** One round; safe to repeat. `mustStop` ends it early. */
export async function deleteDebris(
  context: DebrisContext,
  seen: DebrisSeen,
  mustStop: () => boolean,
): Promise<void> {
  const { sql } = context;
  const startedAt = await readClock(sql);
  await endFutureDiscards(sql);
  for await (const keys of pagesOf((after) => listDiscarded(sql, after))) {
    await deleteDiscarded(
      sql,
      await deleteEach(context, keys, { objectOf: (key) => key, mustStop }),
    );
    if (mustStop()) return;
  }
  let isWhole = true;
  const seenUntil = seen.until;
  for await (const ids of pagesOf((after) => listRecentlyDeleted(sql, { seenUntil, after }))) {
    const objectOf = (id: string) => `batches/${id}/`;
    const deleted = await deleteEach(context, ids, { objectOf, mustStop });
    if (mustStop()) return;
    if (deleted.length < ids.length) isWhole = false;
  }
  for await (const ids of pagesOf((after) => listReclaimed(sql, { seenUntil, after }))) {
    for (const id of ids) {
      if (mustStop()) return;
      if (!(await deleteUnrecorded(context, id))) isWhole = false;
    }
  }
  if (isWhole) seen.until = startedAt;
}

/**
 * Deletes what claims of a batch wrote without a recording commit. Their keys cannot be counted through: a list that is paused
 * after each match has thousands of claims, each of which may have written any of thousands of parts. Returns false when some
 * could not be deleted.
 */
async function deleteUnrecorded(context: DebrisContext, batchId: string): Promise<boolean> {
  const { sql, store } = context;
  const keys = await listPartKeys(sql, batchId);
  const recorded = new Set(keys.flatMap((key) => [key, personIndexKey(key)]));
  const folder = `batches/${batchId}/parts/`;
  let isWhole = true;
  const isListed = await triedToDelete(context, folder, async () => {
    for await (const key of store.list(folder)) {
      if (!isOfClaim(key) || recorded.has(key)) continue;
      if (!(await triedToDelete(context, key))) isWhole = false;
    }
  });
  return isListed && isWhole;
}
