/**
 * What is deleted by age: files of ended batches, uploads, idempotency keys, sessions, deliveries of webhooks.
 * In every worker, every ten minutes, with the scrub of stored objects.
 */
import { deleteOldKeys } from '../../core/idempotency/idempotency.sql.ts';
import { deleteOldLimits } from '../../core/limits/limits.sql.ts';
import { deleteOldHints } from '../../core/search/search.sql.ts';
import { deleteOldSessions } from '../../core/sessions/sessions.sql.ts';
import { scrub } from '../audit/scrub.ts';
import { listExpired, markFilesDeleted } from '../batch/batches.sql.ts';
import { expireAbandoned } from '../batch/control-batch.ts';
import { deleteExpiredUploads } from '../list/uploads.ts';
import type { JobContext } from '../queue/job-context.ts';
import { type Repeating, startRepeating } from '../queue/start-repeating.ts';
import { deleteOldDeliveries } from '../webhook/webhooks.sql.ts';
import { deleteDebris } from './delete-debris.ts';
import { deleteOrphans } from './delete-orphans.ts';

const EVERY_MS = 10 * 60 * 1000;
/** Ten times as long as a delivery is tried: time to see that it failed, and to send it again. */
const DELIVERIES_KEEP_DAYS = 30;
/** All objects are listed in one round of so many, which is every six hours. */
const ROUNDS_BETWEEN_LISTS = 36;

/** Time for deleting files in one round: the next one continues. */
const DELETE_MS_MAX = 5 * 60 * 1000;

/** One round; `mustStop` ends it early. */
export async function runHousekeeping(
  context: JobContext,
  mustStop: () => boolean = () => false,
): Promise<void> {
  await deleteOldKeys(context.sql);
  await deleteOldLimits(context.sql);
  await deleteOldHints(context.sql);
  await deleteOldSessions(context.sql);
  await deleteOldDeliveries(context.sql, DELIVERIES_KEEP_DAYS);
  await expireAbandoned(context.sql, context.config.filesKeepDays);
  await deleteExpiredFiles(context, mustStop);
  await deleteDebris(context);
  await deleteExpiredUploads(context);
}

/**
 * Deletes the files that are no longer kept, of all accounts in turn, until none is left or the time is over. The objects
 * go first: a crash in between deletes them again, which is harmless.
 */
async function deleteExpiredFiles(
  { sql, store, config }: JobContext,
  mustStop: () => boolean,
): Promise<void> {
  const end = performance.now() + DELETE_MS_MAX;
  while (!mustStop() && performance.now() < end) {
    const expired = await listExpired(sql, config.filesKeepDays);
    if (expired.length === 0) return;
    for (const id of expired) await store.deletePrefix(`batches/${id}/`);
    await markFilesDeleted(sql, expired);
  }
}

/** Keeps house at once, then every few minutes until stopped. Reads some of the stored objects each time. */
export function startHousekeeping(context: JobContext): Repeating {
  let round = 0;
  let mustStop = false;
  const repeating = startRepeating(
    EVERY_MS,
    async () => {
      await runHousekeeping(context, () => mustStop);
      await scrub(context, () => mustStop);
      // Not in the first: processes that start all the time would list all the time.
      if (++round % ROUNDS_BETWEEN_LISTS > 0) return;
      const orphans = await deleteOrphans(context);
      if (orphans > 0) context.log.warn({ orphans }, 'uploads of no batch were deleted');
    },
    (error) => context.log.error({ err: error }, 'keeping house failed'),
  );
  return {
    stop() {
      mustStop = true;
      return repeating.stop();
    },
  };
}
