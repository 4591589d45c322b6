/**
 * Deletes by age: files of ended batches, uploads, idempotency keys, sessions, changes of the graph, webhook
 * deliveries. Runs in every worker every ten minutes, with the scrub of stored objects.
 */
import { endFutureDays } from '../../core/credits/key-budgets.sql.ts';
import { deleteNoLongerOwned } from '../../core/credits/owned.sql.ts';
import { inTransaction } from '../../core/db/client.ts';
import { assertClocksAgree, openSteadyClock } from '../../core/db/clock.ts';
import { deleteOldChanges } from '../../core/graph/changes.sql.ts';
import { deleteFormerIdentifiers } from '../../core/graph/former-identifiers.sql.ts';
import { deleteOldKeys } from '../../core/idempotency/idempotency.sql.ts';
import { deleteOldLimits } from '../../core/limits/limits.sql.ts';
import { deleteOldHints } from '../../core/search/search.sql.ts';
import { deleteOldSessions } from '../../core/sessions/sessions.ts';
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
import { runStages, type Stage } from './run-stages.ts';

const EVERY_MS = 10 * 60 * 1000;
/** Ten times as long as a delivery is retried: time to notice a failure and replay it. */
const DELIVERIES_KEEP_DAYS = 30;
/**
 * Of a webhook: more than two days of an account that makes as many lists as it may. Calls that cost nothing make hundreds a
 * minute.
 */
const DELIVERIES_MAX = 100_000;
/** All objects are listed in one of this many rounds, every six hours. */
const ROUNDS_BETWEEN_LISTS = 36;

/** Time for deleting files in one round: the next one continues. */
const DELETE_MS_MAX = 5 * 60 * 1000;

/**
 * One round; `mustStop` ends it early, and `seen` goes from one to the next. Objects that cannot be deleted are logged and left
 * for the next round. Throws `AppError` `clock_wrong`, before it deletes anything, when the clocks of process and database
 * differ by more than an hour, and as `runStages`, such as the error of a store that does not respond.
 */
export async function runHousekeeping(
  context: JobContext,
  mustStop: () => boolean = () => false,
  now: () => number = Date.now,
  seen: DebrisSeen = { until: null },
): Promise<void> {
  const { sql, testSql, config } = context;
  await assertClocksAgree(sql, now);
  const stages = [
    () => deleteOldKeys(sql),
    () => deleteOldLimits(sql),
    () => deleteOldHints(sql),
    () => deleteOldSessions(sql),
    () => endFutureDays(sql, batchPayers(sql)),
    () => deleteNoLongerOwned(sql),
    () => deleteOldChanges(sql),
    () => deleteOldChanges(testSql),
    () => deleteOldDeliveries(sql, DELIVERIES_KEEP_DAYS),
    () => deleteSurplusDeliveries(sql, DELIVERIES_MAX),
    () => endFuturePauses(sql),
    () => expireAbandoned(sql, config.filesKeepDays),
    () => deleteExpiredFiles(context, mustStop),
    async () => deleteFormerIdentifiers(sql, await readOldestKept(sql)),
    async () => deleteFormerIdentifiers(testSql, await readOldestKept(sql)),
    () => deleteDebris(context, seen, mustStop),
    () => deleteUselessUploads(context, mustStop),
    () => deleteOldRuns(context),
  ];
  await runStages(context, stages, mustStop);
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

/** Throws `AppError` `clock_wrong` as `runHousekeeping`: what is an orphan depends on its age. */
async function deleteAllOrphans(context: JobContext, now: () => number): Promise<void> {
  await assertClocksAgree(context.sql, now);
  const orphans = await deleteOrphans(context);
  if (orphans > 0)
    context.log.warn({ orphans }, 'deleted files without a list, an export or an import run');
}

/**
 * Runs housekeeping at once, then every ten minutes until stopped, each time with a scrub of some objects. After the machine's
 * clock has jumped ahead by more than an hour, nothing is deleted for an hour.
 */
export function startHousekeeping(context: JobContext): Repeating {
  const now = openSteadyClock();
  let round = 0;
  const seen: DebrisSeen = { until: null };
  return startRepeating(
    EVERY_MS,
    (mustStop) => {
      const stages: Stage[] = [
        () => runHousekeeping(context, mustStop, now, seen),
        () => scrub(context, mustStop),
      ];
      // Not in the first round: processes that restart often would list each time.
      if (++round % ROUNDS_BETWEEN_LISTS === 0) stages.push(() => deleteAllOrphans(context, now));
      return runStages(context, stages, mustStop);
    },
    (error) => context.log.error({ err: error }, 'housekeeping failed'),
  );
}
