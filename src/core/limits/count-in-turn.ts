/**
 * Counts unmetered calls in turns of their accounts. Each locks the counter of its account: hundreds at once would keep all
 * connections waiting for each other, and whatever the calls do next would come at once.
 */
import type { Limiter } from './limiter.ts';
import { countUnmeteredCall } from './limits.ts';
import { openShare } from './shares.ts';

export const unmeteredShare = {
  name: 'calls',
  // No account waits for another one: some of these calls wait for the account's own turns of other kinds.
  inFlightMax: Number.POSITIVE_INFINITY,
  accountInFlightMax: 2,
  // A minute's calls may be sent at once, and none of them is refused.
  accountWaitingMax: 600,
  waitMsMax: 30_000,
};

const inTurn = openShare(unmeteredShare);

/** Counts a call until `gone` aborts. Throws as `countUnmeteredCall` and as a share does. */
export function countInTurn(
  limiter: Limiter,
  key: { accountId: string },
  gone: AbortSignal,
): Promise<void> {
  return inTurn(key.accountId, gone, () => countUnmeteredCall(limiter, key));
}
