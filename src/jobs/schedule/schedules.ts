/** Operations on schedules: create, change, delete. */

import { uuidv7 } from 'uuidv7';
import type { Owner, OwnerWithKey } from '../../core/accounts/owner.ts';
import { lockWallet } from '../../core/credits/credits.sql.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { readClock } from '../../core/db/clock.ts';
import { type AppError, conflict, notFound } from '../../core/lib/errors.ts';
import { checkExport, type ExportConfig } from '../export/create-export.ts';
import { nextRun } from './next-run.ts';
import {
  countSchedules,
  deleteSchedule,
  findOwnSchedule,
  insertSchedule,
  type Schedule,
  updateSchedule,
} from './schedules.sql.ts';

/** A schedule as callers describe it. */
export type ScheduleRequest = Pick<
  Schedule,
  | 'name'
  | 'cron'
  | 'timeZone'
  | 'filter'
  | 'fields'
  | 'format'
  | 'mode'
  | 'maxResults'
  | 'maxCredits'
  | 'enabled'
>;

/** Maximum per account. All of them may be due in the same minute. */
const SCHEDULES_MAX = 100;

interface ScheduleContext {
  sql: Sql;
  config: ExportConfig;
}

/**
 * Creates a schedule; its exports run under the key. Throws `AppError` 400 that names what is invalid: the
 * field of the cron expression, the zone, the filter and the position in it, a field, or `max_results`; 409
 * `too_many_schedules`.
 */
export async function createSchedule(
  tx: Sql,
  config: ExportConfig,
  owner: OwnerWithKey,
  request: ScheduleRequest,
): Promise<Schedule> {
  checkExport(request, config);
  const now = await readClock(tx);
  // A schedule created disabled must be valid enough to be enabled.
  const next = nextRun(request.cron, request.timeZone, now);
  const nextRunAt = request.enabled ? next : null;
  await lockWallet(tx, owner.accountId);
  if ((await countSchedules(tx, owner.accountId)) >= SCHEDULES_MAX) throw tooManySchedules();
  const made = { id: uuidv7(), ...owner, ...request, nextRunAt };
  await insertSchedule(tx, made);
  return { ...made, createdAt: now };
}

/**
 * Changes a schedule, which then runs under this key. Throws 400 as `createSchedule`, and 404 for a schedule
 * that is not the owner's. Changing the times or enabling it does not run missed slots.
 */
export async function changeSchedule(
  { sql, config }: ScheduleContext,
  owner: OwnerWithKey,
  id: string,
  change: Partial<ScheduleRequest>,
): Promise<Schedule> {
  return inTransaction(sql, async (tx) => {
    const before = await requireOwnSchedule(tx, owner, id, true);
    const after = { ...before, ...change, keyId: owner.keyId };
    checkExport(after, config);
    const next = nextRun(after.cron, after.timeZone, await readClock(tx));
    const sameTimes = after.cron === before.cron && after.timeZone === before.timeZone;
    const waiting = sameTimes && before.enabled ? before.nextRunAt : null;
    const nextRunAt = after.enabled ? (waiting ?? next) : null;
    await updateSchedule(tx, { id, ...change, keyId: owner.keyId, nextRunAt });
    return { ...after, nextRunAt };
  });
}

/** Deletes a schedule and its history; its exports stay. Throws 404 for one that is not the owner's. */
export async function removeSchedule(
  { sql }: Pick<ScheduleContext, 'sql'>,
  owner: Owner,
  id: string,
): Promise<void> {
  await inTransaction(sql, async (tx) => {
    await requireOwnSchedule(tx, owner, id, true);
    await deleteSchedule(tx, id);
  });
}

/** Returns a schedule of the owner, and with `lock` locks its row. Throws `AppError` 404. */
export async function requireOwnSchedule(
  sql: Sql,
  owner: Owner,
  id: string,
  lock = false,
): Promise<Schedule> {
  const schedule = await findOwnSchedule(sql, owner, id, lock);
  if (schedule === undefined) throw notFound(`Schedule ${id}`);
  return schedule;
}

function tooManySchedules(): AppError {
  return conflict(
    'too_many_schedules',
    `This account has ${SCHEDULES_MAX} schedules, the maximum. Delete one, or change it: \`PATCH /v1/schedules/:id\`.`,
    { extensions: { schedules_max: SCHEDULES_MAX } },
  );
}
