/**
 * Wakes workers for the next chunks, fairly between accounts. A worker that is awake goes on by itself: what is
 * to be woken is what comes anew, or what nobody goes on with.
 */
import type { Context } from '../../core/context.ts';
import { inTransaction } from '../../core/db/client.ts';
import type { Queues } from '../queue/queues.ts';
import { dispatchChunks } from './dispatch.sql.ts';

export interface DispatchContext extends Pick<Context, 'sql'> {
  queues: Queues;
  config: { accountChunksMax: number };
}

/**
 * Whoever has nothing in flight does not wait behind all that others have in the queue. Not more classes
 * than these: a chunk that waits would be overtaken by later ones of a lower place for ever.
 */
const PRIORITY = { first: 1, further: 2 } as const;

/**
 * While so many wait, whoever is free has a wake-up and finds all work there is. Workers that go on by themselves
 * take none, so that more would only pile up.
 */
const WAKE_UPS_ENOUGH = 50;

/** Commits the choice, then wakes the jobs; a wake-up that is lost here is found by the sweep. */
export async function dispatch(context: DispatchContext): Promise<void> {
  if ((await context.queues.countWaiting('run-chunk')) >= WAKE_UPS_ENOUGH) return;
  const wakeUps = await inTransaction(context.sql, (tx) =>
    dispatchChunks(tx, { perAccount: context.config.accountChunksMax, most: WAKE_UPS_ENOUGH }),
  );
  const ordered = [...wakeUps].sort((a, b) => a.place - b.place);
  await context.queues.wake(
    'run-chunk',
    ordered.map(({ chunkId, epoch, place }) => ({
      id: `${chunkId}-${epoch}`,
      payload: { chunkId, epoch },
      priority: place === 1 ? PRIORITY.first : PRIORITY.further,
      // Each chunk that a worker goes on with is part of the trace of its own batch.
      trace: null,
    })),
  );
}
