/**
 * Turns of the thread, for what callers may have read in any number at once and for nothing: lists of addresses, files of
 * decisions, results. The thread also serves all other calls.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { openShare } from './shares.ts';

/**
 * A turn is for a piece of some milliseconds, and lasts one round of the event loop: a caller whose client is slow holds none.
 */
const inTurn = openShare({
  name: 'readers of lists and results',
  inFlightMax: 2,
  accountInFlightMax: 1,
  // Bodies, downloads and reruns have limits of their own.
  accountWaitingMax: 1000,
  waitMsMax: 60_000,
});

/** The account for which something is read, and a signal that aborts when no one waits for it any more. */
export interface ThreadUser {
  accountId: string;
  signal: AbortSignal;
}

/** Resolves when the next piece may be read. Throws as a share does, and the reason of `signal`. */
export function takeThreadTurn({ accountId, signal }: ThreadUser): Promise<void> {
  return inTurn(accountId, signal, nextQuietRound);
}

/** Rounds in which connections arrive that a piece waits for at most: a flood of them must not end all reading. */
const ROUNDS_MAX = 32;
let connections = 0;

/** Call it for each connection that is accepted. */
export function noteConnection(): void {
  connections++;
}

/**
 * Resolves after a round of the event loop in which no connection was accepted. Node accepts one in each round, and a round in
 * which a piece is read takes ten times as long: a burst of five hundred would be accepted in seconds.
 */
export async function nextQuietRound(): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const before = connections;
    await nextRound();
    if (connections === before) return;
  }
}
