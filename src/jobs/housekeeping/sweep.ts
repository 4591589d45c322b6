/**
 * Keeps every accepted list moving, even when wake-ups, workers or the queue itself are lost. Runs every few
 * seconds in every worker process; all its statements may run concurrently elsewhere.
 */
import { inTransaction } from '../../core/db/client.ts';
import { prices } from '../../core/operations.ts';
import { dispatch, takeBackLost } from '../batch/dispatch.ts';
import { batchJobNames, wakeWaiting } from '../batch/run-batch-jobs.ts';
import { leasesReclaimed } from '../chunk/chunk-metrics.ts';
import { endWaits } from '../chunk/chunk-waits.sql.ts';
import { listWithExpiredLeases, reclaimChunks } from '../chunk/commit-part.sql.ts';
import type { JobContext } from '../queue/job-context.ts';
import { type Repeating, startRepeating } from '../queue/start-repeating.ts';
import { batchesDueForRedaction } from '../result/redact-results.ts';
import { resumePaidBatches } from './resume-paid.sql.ts';
import { runStages } from './run-stages.ts';

/** With a lease of 12 s, the chunk of a worker that died runs again within 20 s, also where a sweep takes its time. */
const SWEEP_EVERY_MS = 3_000;
/** Younger work should still have a wake-up on its way. */
const UNATTENDED_SECONDS = 10;
/**
 * Checks of results that wait for a worker after an opt-out. With as many, no more results are looked for: that takes the
 * longer the more there are, two seconds for 200,000.
 */
const CHECKS_WAITING_MAX = 500;

/**
 * One sweep: reclaims lost chunks, resumes batches, repairs the queue, dispatches, wakes waiting jobs. `mustStop` ends it
 * early. Throws as `runStages`: a job or a batch that always fails in one stage must not block the other stages, which serve
 * all lists.
 */
export async function sweep(
  context: JobContext,
  mustStop: () => boolean = () => false,
): Promise<void> {
  const { sql } = context;
  const stages = [
    () => reclaim(context),
    () => inTransaction(sql, endWaits),
    () => resumePaidBatches(sql, prices),
    () => context.queues.repair(),
    () => takeBackLost(context),
    // Before the jobs, of which there may be many.
    () => dispatch(context),
    ...batchJobNames.map((job) => () => wakeWaiting(context, job, UNATTENDED_SECONDS)),
    () => wakeRedaction(context),
  ];
  await runStages(context, stages, mustStop);
}

/** Reclaims lost chunks, of each batch alone: one that cannot be reclaimed keeps no others. */
async function reclaim(context: JobContext): Promise<void> {
  const { sql, log } = context;
  const reclaimOf = (id: string) => async () => {
    const reclaimed = await inTransaction(sql, (tx) => reclaimChunks(tx, [id]));
    if (reclaimed > 0) log.warn({ batch: id, chunks: reclaimed }, 'reclaimed expired leases');
    leasesReclaimed.inc(reclaimed);
  };
  await runStages(context, (await listWithExpiredLeases(sql)).map(reclaimOf));
}

/**
 * A batch is woken again after this long although the queue holds its job: that of a dead worker, for as long as the clock of the
 * queue was ahead. Two workers that redact one batch do what the other one has left.
 */
const REDACTION_WOKEN_MS = 10 * 60_000;

async function wakeRedaction(context: JobContext): Promise<void> {
  const { queues } = context;
  const turn = Math.floor(Date.now() / REDACTION_WOKEN_MS);
  if ((await queues.countWaiting('redact-results')) >= CHECKS_WAITING_MAX) return;
  for (const id of await batchesDueForRedaction(context)) {
    await queues.wake('redact-results', [
      { id: `redact-results-${id}-${turn}`, payload: { batchId: id } },
    ]);
  }
}

/** Sweeps at once, then every few seconds until stopped; a failed sweep is logged and retried. */
export function startSweeping(context: JobContext): Repeating {
  return startRepeating(
    SWEEP_EVERY_MS,
    (mustStop) => sweep(context, mustStop),
    (error) => context.log.error({ err: error }, 'sweep failed'),
  );
}
