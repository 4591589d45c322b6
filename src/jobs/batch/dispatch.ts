/**
 * Wakes workers for the next chunks, fairly between accounts. An awake worker continues on its own, so only new
 * or abandoned work needs a wake-up.
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
 * Queue priorities. An account with nothing in flight does not wait behind everything that others have in the
 * queue. There are only two classes: with more, a waiting chunk could be overtaken for ever.
 */
const PRIORITY = { first: 1, further: 2 } as const;

/**
 * While this many wait, every free worker has a wake-up and finds all the work. Workers that continue on their
 * own take none, so more would only pile up.
 */
const WAKE_UPS_ENOUGH = 50;

/** Commits the choice, then wakes the jobs; the sweep repeats a lost wake-up. */
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
      // Each chunk belongs to the trace of its own batch.
      trace: null,
    })),
  );
}
