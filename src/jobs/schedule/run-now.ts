/** Runs a schedule when its owner asks for it, in addition to its slots. */

import type { OwnerWithKey } from '../../core/accounts/owner.ts';
import type { Sql } from '../../core/db/client.ts';
import { readClock } from '../../core/db/clock.ts';
import { assert } from '../../core/lib/assert.ts';
import { conflict } from '../../core/lib/errors.ts';
import { createExport } from '../export/create-export.ts';
import { exportOf } from './run-due.ts';
import {
  hasOpenRun,
  insertRun,
  listRuns,
  type ScheduleRun,
  setRunExport,
} from './schedules.sql.ts';
import { requireOwnSchedule } from './schedules.ts';

/**
 * Starts an export of the schedule now, also while it is disabled; its slots stay as they are. The
 * export runs under the key of the caller and spends at most `maxCredits`, and what the schedule
 * allows. Call `wakeExport` after the commit. Throws `AppError` 404 for a schedule of another owner,
 * 409 `invalid_state` while an export of the schedule has not ended, and as `createExport`.
 */
export async function runScheduleNow(
  tx: Sql,
  config: Parameters<typeof createExport>[1],
  owner: OwnerWithKey,
  { id, maxCredits }: { id: string; maxCredits: number | null },
): Promise<ScheduleRun & { batchId: string }> {
  const schedule = await requireOwnSchedule(tx, owner, id, true);
  if (await hasOpenRun(tx, schedule)) {
    throw conflict(
      'invalid_state',
      'An export of this schedule has not ended. Wait for it, or cancel it.',
    );
  }
  const bounds = [schedule.maxCredits, maxCredits].filter((bound) => bound !== null);
  const { id: batchId } = await createExport(tx, config, owner, {
    ...exportOf(schedule),
    maxCredits: bounds.length === 0 ? null : Math.min(...bounds),
  });
  const slot = await readClock(tx);
  await insertRun(tx, { scheduleId: id, slot, state: 'started', reason: null });
  await setRunExport(tx, { scheduleId: id, slot, batchId });
  const [run] = await listRuns(tx, id, { before: new Date(slot.getTime() + 1), limit: 1 });
  assert(run?.batchId === batchId, 'the run that was recorded is the latest');
  return { ...run, batchId };
}
