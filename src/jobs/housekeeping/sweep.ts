/**
 * What keeps every accepted list moving whatever was lost: wake-ups, workers, the queue itself. Runs
 * every few seconds in every worker process; all its statements may run at the same time elsewhere.
 */
import { inTransaction } from '../../core/db/client.ts';
import { prices } from '../../core/operations.ts';
import { dispatch } from '../batch/dispatch.ts';
import { batchJobNames, wakeWaiting } from '../batch/run-batch-jobs.ts';
import { endWaits } from '../chunk/chunk-waits.sql.ts';
import { reclaimChunks } from '../chunk/commit-part.sql.ts';
import { leasesReclaimed } from '../chunk/leases-reclaimed.ts';
import type { JobContext } from '../queue/job-context.ts';
import { type Repeating, startRepeating } from '../queue/start-repeating.ts';
import { batchesDueForRedaction } from '../result/redact-results.ts';
import { resumePaidBatches } from './resume-paid.sql.ts';

/** With a lease of 15 s, the chunk of a worker that died runs again within 20 s. */
const SWEEP_EVERY_MS = 4_000;
/**
 * A wake-up that nobody claimed for so long is lost: at once nearly where the queue holds none that
 * waits, because a worker that takes one claims its chunk in milliseconds.
 */
const LOST_WAKE_UP_SECONDS = { drained: 5, waiting: 30 } as const;
/** What is younger has a wake-up on its way, unless that was lost. */
const UNATTENDED_SECONDS = 10;

/** One sweep: repairs the queue, takes back lost chunks, resumes batches, wakes what waits, dispatches. */
export async function sweep(context: JobContext): Promise<void> {
  const { sql, log } = context;
  await context.queues.repair();
  const queue = (await context.queues.countWaiting('run-chunk')) === 0 ? 'drained' : 'waiting';
  const lostSeconds = LOST_WAKE_UP_SECONDS[queue];
  const reclaimed = await inTransaction(sql, (tx) => reclaimChunks(tx, lostSeconds));
  if (reclaimed > 0) log.warn({ chunks: reclaimed }, 'leases ran out and were taken back');
  leasesReclaimed.inc(reclaimed);
  await inTransaction(sql, endWaits);
  await resumePaidBatches(sql, prices);
  for (const job of batchJobNames) await wakeWaiting(context, job, UNATTENDED_SECONDS);
  for (const id of await batchesDueForRedaction(context)) {
    await context.queues.wake('redact-results', [
      { id: `redact-results-${id}`, payload: { batchId: id } },
    ]);
  }
  await dispatch(context);
}

/** Sweeps now and then every few seconds until stopped; a failed sweep is logged and tried again. */
export function startSweeping(context: JobContext): Repeating {
  return startRepeating(
    SWEEP_EVERY_MS,
    () => sweep(context),
    (error) => context.log.error({ err: error }, 'sweep failed'),
  );
}
