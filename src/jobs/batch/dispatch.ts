/**
 * Queues one job for each chunk that may run next, fairly between accounts. Called after each change that
 * lets a chunk run: a split, the end of another chunk, a resume; the sweep repeats it.
 */
import type { Context } from '../../core/context.ts';
import { inTransaction } from '../../core/db/client.ts';
import type { JobPayloads } from '../queue/job-names.ts';
import type { Queues, WakeUp } from '../queue/queues.ts';
import { type DispatchedChunk, dispatchChunks, listUnclaimed, takeBack } from './dispatch.sql.ts';

export interface DispatchContext extends Pick<Context, 'sql'> {
  queues: Queues;
  config: { accountChunksMax: number };
}

/** Maximum of chunks that are dispatched and not claimed, of all accounts. What is not in the queue can still be reordered. */
const WAITING_MAX = 50;

/**
 * A worker claims a chunk as soon as it takes its job. After this long the sweep asks the queue whether the job
 * still waits, or was taken just now.
 */
const UNCLAIMED_SECONDS = 5;

/** Commits the choice, then adds the jobs; the sweep repeats a lost job. */
export async function dispatch(context: DispatchContext): Promise<void> {
  // A queue that is away is as good as full: a chunk whose job it lost would wait for the sweep.
  if ((await context.queues.countWaiting('run-chunk')) >= WAITING_MAX) return;
  const chosen = await inTransaction(context.sql, (tx) =>
    dispatchChunks(tx, {
      perAccount: context.config.accountChunksMax,
      waitingMax: WAITING_MAX,
    }),
  );
  await context.queues.wake('run-chunk', chosen.map(chunkJob));
}

/** Makes chunks pending again whose jobs the queue lost. Throws when the queue cannot be asked. */
export async function takeBackLost({ sql, queues }: DispatchContext): Promise<void> {
  const unclaimed = await listUnclaimed(sql, UNCLAIMED_SECONDS);
  if (unclaimed.length === 0) return;
  const held = await queues.findHeld('run-chunk', unclaimed.map(jobId), UNCLAIMED_SECONDS * 1000);
  const lost = unclaimed.filter((chunk) => !held.has(jobId(chunk)));
  if (lost.length > 0) await takeBack(sql, lost);
}

function chunkJob(chunk: DispatchedChunk): WakeUp<JobPayloads['run-chunk']> {
  const { chunkId, epoch, batchId, number, failures } = chunk;
  return {
    id: jobId(chunk),
    payload: { batchId, chunk: number, attempt: failures + 1, chunkId, epoch },
    // Each chunk belongs to the trace of its own batch.
    trace: null,
  };
}

/** Every statement that makes a dispatched chunk pending raises its epoch, so that each dispatch has its own id. */
function jobId({ batchId, number, epoch }: DispatchedChunk): string {
  return `${batchId}-${number}-${epoch}`;
}
