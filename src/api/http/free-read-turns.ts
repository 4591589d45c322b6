/**
 * Turns for the unmetered reads of JSON, of which an account may send a minute's worth at once: a few of its calls are
 * processed at a time, so that the calls of others wait for these few only.
 */
import { unmeteredShare } from '../../core/limits/count-in-turn.ts';
import { openShare, type Share } from '../../core/limits/shares.ts';
import { takeThreadTurn } from '../../core/limits/thread-turns.ts';

/** Apart from the turns in which calls are counted: a read is counted while it has a turn. */
const inAccountTurn = openShare(unmeteredShare);

/**
 * Runs a read in a turn of its account, which takes one of the thread first: reads of many accounts begin two in a round of the
 * event loop, and after a round without a new connection. Throws as a share does.
 */
export const inFreeReadTurn: Share = (accountId, signal, read) =>
  inAccountTurn(accountId, signal, async () => {
    await takeThreadTurn({ accountId, signal });
    return read();
  });
