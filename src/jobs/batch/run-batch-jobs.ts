/**
 * Runs batch jobs (jobs about a whole batch). The queue only wakes: an awake worker claims batch after batch,
 * round-robin by account, and failures are counted in the row of the batch. A job that fails because the
 * database or the store is unavailable is retried until they are back; one that fails `ATTEMPTS_MAX` times for
 * any other reason ends the batch.
 */
import { z } from 'zod';
import { isUnavailable } from '../../core/db/pg-errors.ts';
import { AppError } from '../../core/lib/errors.ts';
import { isObjectLost } from '../../core/storage/object-sum.ts';
import { tracedIn } from '../../core/tracing.ts';
import { defineJob, type JobDefinition, type JobSlot } from '../queue/define-job.ts';
import type { JobContext } from '../queue/job-context.ts';
import { queueOf } from '../queue/job-names.ts';
import type { BatchKind, BatchOf } from './batch.ts';
import {
  type BatchClaim,
  type BatchJob,
  claimBatch,
  claimNextBatch,
  listWaiting,
  releaseBatch,
} from './claim-batch.sql.ts';
import { dropQuote } from './control-batch.sql.ts';
import { dispatch } from './dispatch.ts';
import { endWithError, processingFailed } from './fail-batch.ts';
import { type HeldBatch, holdBatch, type NotDone } from './hold-batch.ts';
import { RETRY_SECONDS_MAX } from './lease.sql.ts';
import { endWhenObjectLost, pauseWhenLost } from './lost-object.ts';

/** An unknown error that repeats this often is attributed to the batch, after some three minutes. */
const ATTEMPTS_MAX = 8;
/** Pause after an error of the database or the store. */
const UNAVAILABLE_SECONDS = 5;
const infrastructureCodes: ReadonlySet<string> = new Set(['store_unavailable', 'unavailable']);

/** The work of each kind of batch in each batch job. */
export interface BatchWorks {
  split: { [Kind in BatchKind]: (context: JobContext, batch: BatchOf<Kind>) => Promise<void> };
  finish(context: JobContext, batchId: string): Promise<void>;
  quote(context: JobContext, held: HeldBatch): Promise<NotDone | null>;
}
export const batchJobNames = ['finish-batch', 'split-batch', 'write-ids', 'quote-batch'] as const;

/** The account that this process served last with each job; its next claim starts after it. */
const lastServed = new Map<BatchJob, string>();

export function batchJobs(works: BatchWorks): { [Name in BatchJob]: JobDefinition<Name> } {
  const batchJob = <Name extends BatchJob>(name: Name) =>
    defineJob<Name>({
      name,
      payload: z.object({ batchId: z.uuid() }) as never,
      run: (context, { batchId }, slot) => runBatchJobs(context, works, name, batchId, slot),
    });
  return {
    'split-batch': batchJob('split-batch'),
    'write-ids': batchJob('write-ids'),
    'finish-batch': batchJob('finish-batch'),
    'quote-batch': batchJob('quote-batch'),
  };
}

async function work(
  context: JobContext,
  { split, finish, quote }: BatchWorks,
  held: HeldBatch,
): Promise<NotDone | null> {
  const { batch, job } = held;
  if (job === 'quote-batch') return quote(context, held);
  if (job === 'finish-batch') {
    await finish(context, batch.id);
    return null;
  }
  await (batch.kind === 'export' ? split.export(context, batch) : split.list(context, batch));
  await dispatch(context);
  return null;
}

/** Runs the woken job, then continues with other waiting jobs of the same queue. Throws the first error. */
async function runBatchJobs(
  context: JobContext,
  works: BatchWorks,
  job: BatchJob,
  batchId: string,
  slot: JobSlot,
): Promise<void> {
  const errors: unknown[] = [];
  const ofQueue = batchJobNames.filter((name) => queueOf[name] === queueOf[job]);
  const claimNext = async () => {
    for (const name of ofQueue) {
      if (slot.mustStop()) return undefined;
      const claim = await claimNextBatch(context.sql, name, lastServed.get(name) ?? null);
      if (claim !== undefined) return claim;
    }
    return undefined;
  };
  let claim = (await claimBatch(context.sql, job, batchId)) ?? (await claimNext());
  while (claim !== undefined) {
    lastServed.set(claim.job, claim.batch.accountId);
    await runClaim(context, works, claim).catch((error: unknown) => errors.push(error));
    claim = await claimNext();
  }
  // A worker that shuts down wakes others for the rest.
  if (slot.mustStop()) for (const name of ofQueue) await wakeWaiting(context, name, 0);
  if (errors.length > 0) throw errors[0];
}

/** Wakes workers for batches that wait for the job and are at least this old. */
export async function wakeWaiting(
  { sql, queues }: Pick<JobContext, 'sql' | 'queues'>,
  job: BatchJob,
  olderThanSeconds: number,
): Promise<void> {
  const waiting = await listWaiting(sql, job, olderThanSeconds);
  await queues.wake(
    job,
    waiting.map(({ id, traceParent: trace, attempts }) => ({
      // Never that of the first wake-up, or of an earlier claim: the queue ignores an id that it still holds, as that of a
      // dead worker, for as long as its clock was ahead.
      id: `${job}-${id}-${attempts}`,
      payload: { batchId: id },
      trace,
    })),
  );
}

/** Runs the job of a claim. Throws the error of a failure, unless it is a reason that ends the batch. */
async function runClaim(context: JobContext, works: BatchWorks, claim: BatchClaim): Promise<void> {
  const { batch, job } = claim;
  const { held, stop } = holdBatch(context, claim);
  const attributes = { 'enrich.batch': batch.id, 'enrich.kind': batch.kind };
  const span = { name: job, from: performance.now(), attributes };
  try {
    // Each worker that held it died.
    if (claim.attempts > ATTEMPTS_MAX) return await endOrDropQuote(context, claim);
    const notDone = await tracedIn(claim.traceParent, span, () => work(context, works, held));
    if (notDone !== null) await releaseBatch(context.sql, claim, { ...notDone, counts: false });
  } catch (error) {
    if (!(await held.isWanted().catch(() => true))) {
      context.log.info({ err: error, batch: batch.id, job }, 'batch job ended without effect');
      await releaseBatch(context.sql, claim, { retryAfterSeconds: 0, counts: false });
      return;
    }
    if (isReason(error)) return await endWithError(context, batch.id, error);
    await recordFailure(context, claim, error);
    context.log.error({ err: error, batch: batch.id, job }, 'batch job failed');
    throw error;
  } finally {
    stop();
  }
}

/** True for an error that says why the batch cannot be processed: a retry would fail the same way. */
function isReason(error: unknown): error is AppError {
  return error instanceof AppError && !isObjectLost(error) && !isInfrastructure(error);
}

/** Schedules a retry of the job, or ends the batch. */
async function recordFailure(
  context: JobContext,
  claim: BatchClaim,
  error: unknown,
): Promise<void> {
  const { batch, attempts } = claim;
  const again = (retryAfterSeconds: number, counts: boolean) =>
    releaseBatch(context.sql, claim, { retryAfterSeconds, counts });
  if (isObjectLost(error)) {
    await again(pauseWhenLost(error), false);
    await endWhenObjectLost(context, batch, { error, chunkNumber: null });
  } else if (isInfrastructure(error)) {
    await again(UNAVAILABLE_SECONDS, false);
  } else if (attempts >= ATTEMPTS_MAX) {
    await endOrDropQuote(context, claim);
  } else {
    await again(Math.min(RETRY_SECONDS_MAX, 2 ** attempts), true);
  }
}

/** Drops a quote, which a batch can do without; ends the batch for any other job. */
async function endOrDropQuote(context: JobContext, { job, batch }: BatchClaim): Promise<void> {
  if (job === 'quote-batch') await dropQuote(context.sql, batch.id);
  else await endWithError(context, batch.id, processingFailed(batch));
}

/** True for an error of the database, the store or the system: the same work succeeds once they are back. */
function isInfrastructure(error: unknown): boolean {
  if (error instanceof AppError) return infrastructureCodes.has(error.code);
  const isOfSystem = typeof (error as { syscall?: unknown } | null)?.syscall === 'string';
  return isOfSystem || isUnavailable(error);
}
