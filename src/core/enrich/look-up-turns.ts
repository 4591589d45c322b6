/**
 * Turns for look-ups by name that are free, or many at once: each compares a name with hundreds of records, and together they
 * would delay all other calls at the database and the thread.
 */
import { openShare } from '../limits/shares.ts';

/** Runs look-ups in the account's turn. Throws as a share does. */
export const lookUpInTurn = openShare({
  name: 'look-ups by name',
  inFlightMax: 2,
  accountInFlightMax: 1,
  // A key may send its 60 requests per minute at once, and none of them is refused.
  accountWaitingMax: 64,
  waitMsMax: 30_000,
});
