/**
 * Turns for calls that read a list with its reruns before they respond: new reruns, and pages of ambiguous rows. Each has the
 * numbers of the rows of reruns, a million in each, and parts of them in memory for as long as that takes. Short lists have
 * places of their own: three accounts with long ones, each of which is read for a minute and more, would have others refused.
 */
import { openShare, type Share } from '../core/limits/shares.ts';
import type { ListBatch } from '../jobs/batch/batch.ts';

const limits = {
  name: 'readers of lists with their reruns',
  accountInFlightMax: 2,
  accountWaitingMax: 8,
  // No connection may be silent for a minute.
  waitMsMax: 30_000,
};
const longInTurn = openShare({ ...limits, inFlightMax: 6 });
const shortInTurn = openShare({ ...limits, inFlightMax: 4 });

/** A list of so many rows and bytes is read in a second. */
const SHORT_ROWS_MAX = 50_000;
const SHORT_BYTES_MAX = 4 * 1024 * 1024;

/** Reads a list with its reruns in the turn of its account. Throws as a share does. */
export const mergeInTurn = <T>(
  list: Pick<ListBatch, 'accountId' | 'rerunOf' | 'rowsTotal' | 'uploadBytes'>,
  signal: AbortSignal,
  work: () => Promise<T>,
): ReturnType<typeof work> => {
  const inTurn: Share = isShort(list) ? shortInTurn : longInTurn;
  return inTurn(list.accountId, signal, work);
};

/** A rerun of a few rows may be one of a long list, which has longer ones. */
function isShort({ rerunOf, rowsTotal, uploadBytes }: Parameters<typeof mergeInTurn>[0]): boolean {
  return rerunOf === null && (rowsTotal ?? 0) <= SHORT_ROWS_MAX && uploadBytes <= SHORT_BYTES_MAX;
}
