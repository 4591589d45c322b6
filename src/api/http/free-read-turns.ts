/**
 * Turns for the unmetered reads of JSON, of which an account may send a minute's worth at once: a few of its calls are
 * processed at a time, so that the calls of others wait for these few only.
 */
import { openShare } from '../../core/limits/shares.ts';

export const inFreeReadTurn = openShare({
  name: 'calls',
  // No account waits for another one: some of these reads wait for the account's own turns of other kinds.
  inFlightMax: Number.POSITIVE_INFINITY,
  accountInFlightMax: 2,
  // A minute's calls may be sent at once, and none of them is refused.
  accountWaitingMax: 600,
  waitMsMax: 30_000,
});
