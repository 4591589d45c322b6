import type { Sql } from '../../core/db/client.ts';
import { skipDueSlots } from '../schedule/skip-due-slots.ts';
import { endPendingDeliveries } from '../webhook/webhooks.sql.ts';
import { skipNumbers } from './backup.sql.ts';

/** The effects on a database that went back in time. */
export interface LeftPast {
  /** Sequences that skipped numbers. */
  sequencesSkipped: number;
  /** Webhook deliveries that were pending, and are `failed` now. */
  deliveriesEnded: number;
  /** Schedules that were due, and wait for their next slot now. */
  schedulesMoved: number;
}

/**
 * Prepares a restored database for new work, in the caller's transaction. Numbers that were given out since the backup are
 * skipped, webhooks that may have arrived since are not sent again, and slots of schedules that may have run since do not run
 * again. A second call does no harm.
 */
export async function leaveThePast(tx: Sql): Promise<LeftPast> {
  return {
    sequencesSkipped: await skipNumbers(tx),
    deliveriesEnded: await endPendingDeliveries(tx),
    schedulesMoved: await skipDueSlots(tx),
  };
}
