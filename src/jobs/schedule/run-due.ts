/**
 * Starts the exports of schedules whose time has come. Every worker asks every few seconds; the row lock
 * and the unique slot let each slot start once, whatever the number of workers and restarts.
 */
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { AppError } from '../../core/lib/errors.ts';
import { traced, traceToKeep } from '../../core/tracing.ts';
import { checkExport, insertExport, wakeExport } from '../batch/export/create-export.ts';
import type { ResultFormat } from '../batch/result/result-format.ts';
import type { JobContext } from '../queue/job-context.ts';
import { type Repeating, startRepeating } from '../start-repeating.ts';
import { nextRun } from './next-run.ts';
import {
  type DueSchedule,
  insertRun,
  type RunState,
  readClock,
  setRunExport,
  takeDueSchedule,
  updateSchedule,
} from './queries.ts';

const EVERY_MS = 5_000;

type RunContext = Pick<JobContext, 'sql' | 'log' | 'queues' | 'config'>;

/**
 * Takes all slots that are due at `now`, the time on the database's clock when absent. What was missed
 * while nothing ran is one run, in the slot that was missed first. Returns the exports that it started.
 */
export async function runDueSchedules(context: RunContext, now?: Date): Promise<string[]> {
  const at = now ?? (await readClock(context.sql));
  const started: string[] = [];
  const failed: string[] = [];
  while (true) {
    let scheduleId: string | null = null;
    try {
      const taken = await inTransaction(context.sql, async (tx) => {
        const due = await takeDueSchedule(tx, at, failed);
        scheduleId = due?.id ?? null;
        if (due === undefined) return undefined;
        return traced('schedule', { 'enrich.schedule': due.id }, async () => {
          return { exportId: await takeSlot(context, tx, due, at), trace: traceToKeep() };
        });
      });
      if (taken === undefined) return started;
      if (taken.exportId === null) continue;
      started.push(taken.exportId);
      await wakeExport(context, taken.exportId, taken.trace);
    } catch (error) {
      // One that cannot be run, whatever the reason, does not hold up the others.
      if (scheduleId === null) throw error;
      context.log.error({ err: error, schedule: scheduleId }, 'schedule failed');
      failed.push(scheduleId);
    }
  }
}

/** Decides about a slot, records it, and moves the schedule on. Returns the export, or null for none. */
async function takeSlot(
  context: RunContext,
  tx: Sql,
  due: DueSchedule,
  now: Date,
): Promise<string | null> {
  const slot = due.nextRunAt;
  const after = new Date(Math.max(slot.getTime(), now.getTime()));
  const refusal = refusalOf(context, due);
  const state: RunState = refusal?.state ?? 'started';
  const run = { scheduleId: due.id, slot, state, reason: refusal?.reason ?? null };
  const isFirst = await insertRun(tx, run);
  const next = refusal?.ends ? null : nextRun(due.cron, due.timeZone, after);
  await updateSchedule(tx, { id: due.id, enabled: next !== null, nextRunAt: next });
  if (!isFirst || state !== 'started') return null;
  const { id } = await insertExport(tx, due, {
    name: due.name,
    filter: due.filter,
    fields: due.fields,
    format: due.format as ResultFormat,
    gzip: false,
    maxResults: due.maxResults,
    maxCredits: due.maxCredits,
    hold: false,
    scheduleId: due.id,
    onlyNew: due.mode === 'new',
  });
  await setRunExport(tx, { scheduleId: due.id, slot, batchId: id });
  return id;
}

interface Refusal {
  state: 'skipped' | 'failed';
  reason: string;
  /** The schedule does not run any more until somebody enables it. */
  ends: boolean;
}

/** Why a slot does not start, or null. */
function refusalOf({ config }: RunContext, due: DueSchedule): Refusal | null {
  if (due.keyEnded) return { state: 'failed', reason: 'key_revoked', ends: true };
  if (due.isRunning) return { state: 'skipped', reason: 'previous_run_open', ends: false };
  try {
    checkExport(due, config.batchRowsMax);
    return null;
  } catch (error) {
    // What an earlier version took may be refused by this one.
    if (!(error instanceof AppError)) throw error;
    return { state: 'failed', reason: error.message, ends: true };
  }
}

/** Starts due schedules now and then every few seconds until stopped. */
export function startScheduling(context: RunContext): Repeating {
  return startRepeating(
    EVERY_MS,
    () => runDueSchedules(context),
    (error) => context.log.error({ err: error }, 'schedules could not be run'),
  );
}
