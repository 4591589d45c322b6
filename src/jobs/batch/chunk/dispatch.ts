/** Puts the next chunks on the queue, fairly between accounts. Cheap enough to call at every turn. */

import type { Context } from '../../../core/context.ts';
import { inTransaction } from '../../../core/db/client.ts';
import type { Queues } from '../../queue/queues.ts';
import { dispatchChunks, refillFrom } from './queries.ts';

export interface DispatchContext extends Pick<Context, 'sql'> {
  queues: Queues;
  config: { accountChunksMax: number };
}

/**
 * Whether a dispatch may find work after a chunk whose batch has so many others in flight. The account of
 * the batch is given none then, and the others dispatch when their own chunks end.
 */
export function mayDispatch(inFlight: number, accountChunksMax: number): boolean {
  return inFlight <= refillFrom(accountChunksMax);
}

/**
 * Whoever has nothing in flight does not wait behind all that others have in the queue. Not more classes
 * than these: a chunk that waits would be overtaken by later ones of a lower place for ever.
 */
const PRIORITY = { first: 1, further: 2 } as const;

/** Commits the choice, then wakes the jobs; a wake-up that is lost here is found by the sweep. */
export async function dispatch(context: DispatchContext): Promise<void> {
  const wakeUps = await inTransaction(context.sql, (tx) =>
    dispatchChunks(tx, context.config.accountChunksMax),
  );
  const ordered = [...wakeUps].sort((a, b) => a.place - b.place);
  await context.queues.wake(
    'run-chunk',
    ordered.map(({ chunkId, epoch, place, traceParent: trace }) => ({
      id: `${chunkId}-${epoch}`,
      payload: { chunkId, epoch },
      priority: place === 1 ? PRIORITY.first : PRIORITY.further,
      trace,
    })),
  );
}
