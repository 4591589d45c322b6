/**
 * Starts the exports of due schedules. Every worker checks every second; the row lock and the unique slot start
 * each slot once, whatever the number of workers and restarts.
 */

import { inTransaction, type Sql } from '../../core/db/client.ts';
import { assertClocksAgree, readClock } from '../../core/db/clock.ts';
import { isUnavailable } from '../../core/db/pg-errors.ts';
import { AppError } from '../../core/lib/errors.ts';
import { traced, traceToKeep } from '../../core/tracing.ts';
import type { ResultFormat } from '../batch/batch.ts';
import { hasMaximumOpen } from '../batch/open-lists.ts';
import { assertStorageLeft, countMade } from '../batch/stored-bytes.ts';
import {
  checkExport,
  type ExportRequest,
  insertExport,
  wakeExport,
} from '../export/create-export.ts';
import type { JobContext } from '../queue/job-context.ts';
import { type Repeating, startRepeating } from '../queue/start-repeating.ts';
import { nextRun } from './next-run.ts';
import {
  type DueSchedule,
  findOwnSchedule,
  hasOpenRun,
  insertRun,
  listDueAccounts,
  lockRunAhead,
  type RunState,
  type Schedule,
  setRunExport,
  takeDueSchedule,
  updateSchedule,
} from './schedules.sql.ts';

const EVERY_MS = 1_000;
const RETURN_EVERY_MS = 10 * 60 * 1000;

type RunContext = Pick<JobContext, 'sql' | 'log' | 'queues' | 'config'>;

/** The account that this process served last; the next round starts after it. */
let lastServed: string | null = null;

/**
 * Takes all slots that are due at `now` (default: the database's clock), in rounds of one schedule per account, and returns
 * the exports that it started. Slots missed while no worker ran become one run, that of the first missed slot. `mustStop`
 * ends it early.
 *
 * Throws `AppError` `clock_wrong` before it takes a slot when the clocks of process and database differ by more than an hour.
 * By a clock that is ahead, slots would run early, and not again until their time has come.
 */
export async function runDueSchedules(
  context: RunContext,
  now?: Date,
  mustStop: () => boolean = () => false,
): Promise<string[]> {
  if (now === undefined) await assertClocksAgree(context.sql);
  const started: string[] = [];
  const failed: string[] = [];
  let hasMore = true;
  while (hasMore) {
    hasMore = false;
    const at = now ?? (await readClock(context.sql));
    const which = { after: lastServed, except: failed };
    for (const accountId of await listDueAccounts(context.sql, at, which)) {
      if (mustStop()) return started;
      lastServed = accountId;
      const taken = await runDueSchedule(context, accountId, at, failed);
      if (taken === undefined) continue;
      hasMore = true;
      if (taken.exportId !== null) started.push(taken.exportId);
    }
  }
  return started;
}

/** A slot that was taken, with the export that it started, or null. */
interface Taken {
  exportId: string | null;
}

/**
 * Takes the account's slot that has been due longest. Undefined when a call or another worker holds the account. A
 * schedule whose slot cannot be taken is added to `failed` and does not delay the others.
 */
async function runDueSchedule(
  context: RunContext,
  accountId: string,
  at: Date,
  failed: string[],
): Promise<Taken | undefined> {
  let due: DueSchedule | undefined;
  try {
    const taken = await inTransaction(context.sql, async (tx) => {
      // First, as in calls, which lock the account before its schedules.
      const isFull = await hasMaximumOpen(tx, accountId, context.config.openListsMax);
      // Left for the next round: otherwise the schedules of other accounts would wait for its calls.
      if (isFull === null) return undefined;
      due = await takeDueSchedule(tx, accountId, at, failed);
      const schedule = due;
      if (schedule === undefined) return undefined;
      return traced('schedule', { 'enrich.schedule': schedule.id }, async () => {
        const refusal = await refusalOf(context, tx, schedule, isFull);
        const exportId = await takeSlot(context, tx, schedule, { now: at, refusal });
        return { exportId, trace: traceToKeep() };
      });
    });
    if (taken?.exportId) await wakeExport(context, taken.exportId, taken.trace);
    return taken;
  } catch (error) {
    if (due === undefined) throw error;
    context.log.error({ err: error, schedule: due.id }, 'schedule failed');
    failed.push(due.id);
    // The slot stays due, and is taken when the outage is over.
    if (!isUnavailable(error)) await failSlot(context, due, at);
    return { exportId: null };
  }
}

/** Records that a slot could not be taken, and moves the schedule on, so that its next slot is tried. */
async function failSlot({ sql, log }: RunContext, due: DueSchedule, now: Date): Promise<void> {
  try {
    await inTransaction(sql, async (tx) => {
      const slot = due.nextRunAt;
      const current = await findOwnSchedule(tx, due, due.id, true);
      // It was changed, deleted or taken meanwhile.
      if (current?.nextRunAt?.getTime() !== slot.getTime()) return;
      const run = { scheduleId: due.id, slot, state: 'failed', reason: 'internal_error' } as const;
      await insertRun(tx, run);
      await updateSchedule(tx, { id: due.id, ...nextSlot(due, now) });
    });
  } catch (error) {
    log.error({ err: error, schedule: due.id }, 'could not record a failed slot');
  }
}

/** Returns the next slot. A schedule whose times can no longer be parsed is disabled. */
export function nextSlot(
  due: Pick<DueSchedule, 'cron' | 'timeZone' | 'nextRunAt'>,
  now: Date,
): { enabled: boolean; nextRunAt: Date | null } {
  const after = new Date(Math.max(due.nextRunAt.getTime(), now.getTime()));
  try {
    return { enabled: true, nextRunAt: nextRun(due.cron, due.timeZone, after) };
  } catch {
    return { enabled: false, nextRunAt: null };
  }
}

/** Starts, skips or fails a slot, records that, and advances the schedule. Returns the export or null. */
async function takeSlot(
  context: RunContext,
  tx: Sql,
  due: DueSchedule,
  { now, refusal }: { now: Date; refusal: Refusal | null },
): Promise<string | null> {
  const slot = due.nextRunAt;
  const after = new Date(Math.max(slot.getTime(), now.getTime()));
  const state: RunState = refusal?.state ?? 'started';
  const run = { scheduleId: due.id, slot, state, reason: refusal?.reason ?? null };
  const isFirst = await insertRun(tx, run);
  const next = refusal?.ends ? null : nextRun(due.cron, due.timeZone, after);
  await updateSchedule(tx, { id: due.id, enabled: next !== null, nextRunAt: next });
  if (!isFirst || state !== 'started') return null;
  const { id } = await insertExport(tx, due, exportOf(due), context.config);
  await setRunExport(tx, { scheduleId: due.id, slot, batchId: id });
  return id;
}

/** The export of a run. */
export function exportOf(schedule: Schedule): ExportRequest {
  return {
    name: schedule.name,
    filter: schedule.filter,
    fields: schedule.fields,
    format: schedule.format as ResultFormat,
    gzip: false,
    maxResults: schedule.maxResults,
    maxCredits: schedule.maxCredits,
    hold: false,
    scheduleId: schedule.id,
    onlyNew: schedule.mode === 'new',
  };
}

interface Refusal {
  state: 'skipped' | 'failed';
  reason: string;
  /** The schedule is disabled until its owner enables it. */
  ends: boolean;
}

/**
 * Returns the reason why a slot does not start, or null after it has counted the export in the account's day. `isFull` is
 * true when the account has its maximum of open lists.
 */
async function refusalOf(
  { config }: RunContext,
  tx: Sql,
  due: DueSchedule,
  isFull: boolean,
): Promise<Refusal | null> {
  if (due.keyEnded) return { state: 'failed', reason: 'key_revoked', ends: true };
  if (await hasOpenRun(tx, due))
    return { state: 'skipped', reason: 'previous_run_open', ends: false };
  try {
    checkExport(due, config);
    await assertStorageLeft(tx, due.accountId, config);
    if (isFull) return { state: 'skipped', reason: 'too_many_open', ends: false };
    await countMade(tx, due.accountId, config);
    return null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code } = error;
    if (code === 'storage_full' || code === 'rate_limited')
      return { state: 'skipped', reason: code, ends: false };
    // This version, or a setting that was changed, may refuse a schedule that was accepted.
    return { state: 'failed', reason: error.message, ends: true };
  }
}

/**
 * After the clock was set back, gives schedules that ran by the wrong time their next slot from now on; they would not run
 * again before that time. A slot that was taken is not taken again. Throws as `runDueSchedules`.
 */
export async function returnToSlots({ sql }: Pick<RunContext, 'sql'>): Promise<void> {
  await assertClocksAgree(sql);
  await inTransaction(sql, async (tx) => {
    const now = await readClock(tx);
    for (const schedule of await lockRunAhead(tx)) {
      const next = nextSlot({ ...schedule, nextRunAt: now }, now);
      await updateSchedule(tx, { id: schedule.id, ...next });
    }
  });
}

/** Starts due schedules at once, then every second until stopped, and returns them to their slots every ten minutes. */
export function startScheduling(context: RunContext): Repeating {
  const onError = (error: unknown) =>
    context.log.error({ err: error }, 'running due schedules failed');
  const running = startRepeating(
    EVERY_MS,
    (mustStop) => runDueSchedules(context, undefined, mustStop),
    onError,
  );
  const returning = startRepeating(RETURN_EVERY_MS, () => returnToSlots(context), onError);
  return {
    async stop() {
      await Promise.all([running.stop(), returning.stop()]);
    },
  };
}
