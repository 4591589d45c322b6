/**
 * Turns for the unmetered reads of JSON, of which an account may send a minute's worth at once: a few of its calls are
 * processed at a time, so that the calls of others wait for these few only.
 */
import { unmeteredShare } from '../../core/limits/count-in-turn.ts';
import { openShare } from '../../core/limits/shares.ts';

/** Apart from the turns in which calls are counted: a read is counted while it has a turn. */
export const inFreeReadTurn = openShare(unmeteredShare);
