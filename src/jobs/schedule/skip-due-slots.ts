import type { Sql } from '../../core/db/client.ts';
import { readClock } from '../../core/db/clock.ts';
import { nextSlot } from './run-due.ts';
import { lockDueSchedules, updateSchedule } from './schedules.sql.ts';

/**
 * Moves all due schedules on to their next slot without a run, in the caller's transaction: after a restore, the due slot may
 * have run and been charged already. Returns how many were moved.
 */
export async function skipDueSlots(tx: Sql): Promise<number> {
  const now = await readClock(tx);
  const due = await lockDueSchedules(tx, now);
  for (const schedule of due) {
    await updateSchedule(tx, { id: schedule.id, ...nextSlot(schedule, now) });
  }
  return due.length;
}
