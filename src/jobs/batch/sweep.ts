/**
 * What keeps every accepted list moving whatever was lost: wake-ups, workers, the queue itself. Runs
 * every few seconds in every worker process; all its statements may run at the same time elsewhere.
 */
import { inTransaction } from '../../core/db/client.ts';
import { operations } from '../../core/operations.ts';
import type { JobContext } from '../queue/job-context.ts';
import { dispatch } from './chunk/dispatch.ts';
import { reclaimChunks } from './chunk/queries.ts';
import { listUnattended, resumePaidBatches } from './queries.ts';

const SWEEP_EVERY_MS = 5_000;
/** A wake-up that nobody claimed for so long is lost. */
const LOST_WAKE_UP_SECONDS = 30;
/** Splits and ends are short; one that waits longer has no wake-up any more. */
const UNATTENDED_SECONDS = 10;

const prices = Object.entries(operations).map(([operation, { price }]) => ({ operation, price }));

/** One sweep: repairs the queue, takes back lost chunks, resumes, wakes what waits, dispatches. */
export async function sweep(context: JobContext): Promise<void> {
  const { sql, log } = context;
  await context.queues.repair();
  const reclaimed = await inTransaction(sql, (tx) => reclaimChunks(tx, LOST_WAKE_UP_SECONDS));
  if (reclaimed > 0) log.warn({ chunks: reclaimed }, 'leases ran out and were taken back');
  await resumePaidBatches(sql, prices);
  for (const { id, job } of await listUnattended(sql, UNATTENDED_SECONDS)) {
    await context.queues.wake(job, [{ id: `${job}-${id}`, payload: { batchId: id } }]);
  }
  await dispatch(context);
}

/** Sweeps now and then every few seconds until stopped; a failed sweep is logged and tried again. */
export function startSweeping(context: JobContext): { stop(): Promise<void> } {
  let running = Promise.resolve();
  const once = () => {
    running = sweep(context).catch((error) => context.log.error({ err: error }, 'sweep failed'));
  };
  once();
  const timer = setInterval(once, SWEEP_EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
