/**
 * Deletes objects that work left behind without effect: parts of workers that lost their lease, rewritten parts that
 * were not recorded, and objects written while the files of a batch were being deleted. Only batches in which there may be
 * some are listed. No worker writes to a batch a day after its end.
 */

import { readClock } from '../../core/db/clock.ts';
import { listRecentlyDeleted, listReclaimed } from '../batch/batches.sql.ts';
import type { JobContext } from '../queue/job-context.ts';
import { isOfClaim, personIndexKey } from '../result/part-keys.ts';
import { listPartKeys } from '../result/parts.sql.ts';
import { deleteObjects } from '../result/redact-parts.ts';
import { listDiscarded } from '../result/redaction.sql.ts';

type DebrisContext = Pick<JobContext, 'sql' | 'store'>;

/** The time of this process's last whole round. */
let seenUntil: Date | null = null;

/** One round; safe to repeat. `mustStop` ends it early. */
export async function deleteDebris(context: DebrisContext, mustStop: () => boolean): Promise<void> {
  const { sql, store } = context;
  const startedAt = await readClock(sql);
  await deleteObjects(context, await listDiscarded(sql));
  for await (const id of allPages((after) => listRecentlyDeleted(sql, { seenUntil, after }))) {
    if (mustStop()) return;
    await store.deletePrefix(`batches/${id}/`);
  }
  for await (const id of allPages((after) => listReclaimed(sql, { seenUntil, after }))) {
    if (mustStop()) return;
    await deleteUnrecorded(context, id);
  }
  seenUntil = startedAt;
}

async function* allPages(
  list: (after: string | null) => Promise<string[]>,
): AsyncGenerator<string, void, undefined> {
  let page = await list(null);
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield* page;
    page = await list(last);
  }
}

/**
 * Deletes what claims of a batch wrote without a recording commit. Their keys cannot be counted through: a list that is paused
 * after each match has thousands of claims, each of which may have written any of thousands of parts.
 */
async function deleteUnrecorded({ sql, store }: DebrisContext, batchId: string): Promise<void> {
  const keys = await listPartKeys(sql, batchId);
  const recorded = new Set(keys.flatMap((key) => [key, personIndexKey(key)]));
  for await (const key of store.list(`batches/${batchId}/parts/`)) {
    if (isOfClaim(key) && !recorded.has(key)) await store.delete(key);
  }
}
