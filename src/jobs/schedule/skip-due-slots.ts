import type { Sql } from '../../core/db/client.ts';
import { readClock } from '../../core/db/clock.ts';
import { nextSlot } from './run-due.ts';
import { lockDueSchedules, updateSchedule } from './schedules.sql.ts';

/**
 * Moves all schedules that are due on to their next slot, in the caller's transaction, without a run: after a restore the slot may have
 * run and been charged since. Returns how many.
 */
export async function skipDueSlots(tx: Sql): Promise<number> {
  const now = await readClock(tx);
  const due = await lockDueSchedules(tx, now);
  for (const schedule of due) {
    await updateSchedule(tx, { id: schedule.id, ...nextSlot(schedule, now) });
  }
  return due.length;
}
