/**
 * Turns for reading rows in the API: the first ones of an upload, a preview or a change of columns, and those of a long body.
 * Each takes up to a third of a second of the thread that serves all other calls, and none of them costs a credit.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { openShare } from '../../core/limits/shares.ts';

const inTurn = openShare({
  name: 'readings of rows',
  inFlightMax: 1,
  accountInFlightMax: 1,
  // As many as the transactions of an account, for which an upload waits next.
  accountWaitingMax: 64,
  waitMsMax: 30_000,
});

/** The reader of a list: its account, and a signal that aborts when its client has gone. */
export interface ListReader {
  accountId: string;
  signal: AbortSignal;
}

/** Runs `read` in the account's turn, and leaves the thread to others for as long as it took. Throws as a share does. */
export function inReadingTurn<T>(
  { accountId, signal }: ListReader,
  read: () => T | Promise<T>,
): Promise<T> {
  return inTurn(accountId, signal, () => leavingRoom(read));
}

/** Runs `read`, and resolves after a pause as long as it took. */
export async function leavingRoom<T>(read: () => T | Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await read();
  } finally {
    await pause(performance.now() - start);
  }
}
