/**
 * Turns for calls that read a list with its reruns before they respond: new reruns, and pages of ambiguous rows. Each has the
 * numbers of the rows of reruns, a million in each, and parts of them in memory for as long as that takes.
 */
import { openShare } from '../core/limits/shares.ts';

/** Reads a list with its reruns in the account's turn. Throws as a share does. */
export const mergeInTurn = openShare({
  name: 'readers of lists with their reruns',
  inFlightMax: 6,
  accountInFlightMax: 2,
  accountWaitingMax: 8,
  // No connection may be silent for a minute.
  waitMsMax: 30_000,
});
