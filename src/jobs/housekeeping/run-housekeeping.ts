/**
 * Deletes by age: files of ended batches, uploads, idempotency keys, sessions, changes of the graph, webhook
 * deliveries. Runs in every worker every ten minutes, with the scrub of stored objects.
 */
import { endFutureDays } from '../../core/credits/key-budgets.sql.ts';
import { deleteNoLongerOwned } from '../../core/credits/owned.sql.ts';
import { inTransaction } from '../../core/db/client.ts';
import { assertClocksAgree } from '../../core/db/clock.ts';
import { deleteOldChanges } from '../../core/graph/changes.sql.ts';
import { deleteFormerIdentifiers } from '../../core/graph/former-identifiers.sql.ts';
import { deleteOldKeys } from '../../core/idempotency/idempotency.sql.ts';
import { deleteOldLimits } from '../../core/limits/limits.sql.ts';
import { deleteOldHints } from '../../core/search/search.sql.ts';
import { deleteOldSessions } from '../../core/sessions/sessions.sql.ts';
import { batchPayers } from '../audit/audit-batches.sql.ts';
import { scrub } from '../audit/scrub.ts';
import { listExpired, markFilesDeleted, readOldestKept } from '../batch/batches.sql.ts';
import { expireAbandoned } from '../batch/control-batch.ts';
import { triedToDelete } from '../batch/delete-stored.ts';
import { deleteOldRuns } from '../imports/delete-runs.ts';
import { deleteUselessUploads } from '../list/uploads.ts';
import type { JobContext } from '../queue/job-context.ts';
import { type Repeating, startRepeating } from '../queue/start-repeating.ts';
import {
  deleteOldDeliveries,
  deleteSurplusDeliveries,
  endFuturePauses,
} from '../webhook/webhooks.sql.ts';
import { type DebrisSeen, deleteDebris } from './delete-debris.ts';
import { deleteOrphans } from './delete-orphans.ts';

const EVERY_MS = 10 * 60 * 1000;
/** Ten times as long as a delivery is retried: time to notice a failure and replay it. */
const DELIVERIES_KEEP_DAYS = 30;
/** Of a webhook: more than two days of an account that makes as many lists as it may. Calls that cost nothing make hundreds a minute. */
const DELIVERIES_MAX = 100_000;
/** All objects are listed in one of this many rounds, every six hours. */
const ROUNDS_BETWEEN_LISTS = 36;

/** Time for deleting files in one round: the next one continues. */
const DELETE_MS_MAX = 5 * 60 * 1000;

/**
 * One round; `mustStop` ends it early, and `seen` goes from one to the next. Objects that cannot be deleted are logged and left
 * for the next round. Throws `AppError` `clock_wrong`, before it deletes anything, when the clocks of process and database
 * differ by more than an hour, and the error of a store that does not respond.
 */
export async function runHousekeeping(
  context: JobContext,
  mustStop: () => boolean = () => false,
  now: () => number = Date.now,
  seen: DebrisSeen = { until: null },
): Promise<void> {
  await assertClocksAgree(context.sql, now);
  await deleteOldKeys(context.sql);
  await deleteOldLimits(context.sql);
  await deleteOldHints(context.sql);
  await deleteOldSessions(context.sql);
  await endFutureDays(context.sql, batchPayers(context.sql));
  await deleteNoLongerOwned(context.sql);
  await deleteOldChanges(context.sql);
  await deleteOldChanges(context.testSql);
  await deleteOldDeliveries(context.sql, DELIVERIES_KEEP_DAYS);
  await deleteSurplusDeliveries(context.sql, DELIVERIES_MAX);
  await endFuturePauses(context.sql);
  await expireAbandoned(context.sql, context.config.filesKeepDays);
  await deleteExpiredFiles(context, mustStop);
  const oldest = await readOldestKept(context.sql);
  await deleteFormerIdentifiers(context.sql, oldest);
  await deleteFormerIdentifiers(context.testSql, oldest);
  await deleteDebris(context, seen, mustStop);
  await deleteUselessUploads(context, mustStop);
  await deleteOldRuns(context);
}

/**
 * Deletes expired files, of all accounts in turn, until none is left or the time is over. Deletes objects
 * before their rows: after a crash they are deleted again, which is harmless.
 */
async function deleteExpiredFiles(context: JobContext, mustStop: () => boolean): Promise<void> {
  const { sql, config } = context;
  const passed: string[] = [];
  const end = performance.now() + DELETE_MS_MAX;
  while (!mustStop() && performance.now() < end) {
    const expired = await listExpired(sql, config.filesKeepDays, passed);
    if (expired.length === 0) return;
    for (const id of expired) {
      // Each at once: a backup fails for files that are missing as long as the database names them.
      if (await triedToDelete(context, `batches/${id}/`)) {
        await inTransaction(sql, (tx) => markFilesDeleted(tx, id));
      } else passed.push(id);
    }
  }
}

/** Runs housekeeping at once, then every ten minutes until stopped, each time with a scrub of some objects. */
export function startHousekeeping(context: JobContext): Repeating {
  let round = 0;
  let mustStop = false;
  const seen: DebrisSeen = { until: null };
  const repeating = startRepeating(
    EVERY_MS,
    async () => {
      await runHousekeeping(context, () => mustStop, Date.now, seen);
      await scrub(context, () => mustStop);
      // Not in the first round: processes that restart often would list each time.
      if (++round % ROUNDS_BETWEEN_LISTS > 0) return;
      const orphans = await deleteOrphans(context);
      if (orphans > 0)
        context.log.warn({ orphans }, 'deleted files without a list, an export or an import run');
    },
    (error) => context.log.error({ err: error }, 'housekeeping failed'),
  );
  return {
    stop() {
      mustStop = true;
      return repeating.stop();
    },
  };
}
