/**
 * Jobs about whole batches. The queue only wakes: a worker that is awake claims batch after batch, round-robin by
 * account, and a job that fails is counted in the row of its batch. What fails for want of the database or the
 * store is tried until they are back; what fails for any other reason so often as `ATTEMPTS_MAX` ends the batch.
 */
import { z } from 'zod';
import { isUnavailable } from '../../core/db/pg-errors.ts';
import { AppError } from '../../core/lib/errors.ts';
import { isObjectMissing } from '../../core/storage/object-sum.ts';
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
import { endWhenObjectMissing } from './missing-object.ts';

/** An unknown error that repeats so often is one of the batch: it takes some three minutes. */
const ATTEMPTS_MAX = 8;
const PAUSE_SECONDS_MAX = 60;
/** Pause after an error of the database or the store, and while an object is missing. */
const UNAVAILABLE_SECONDS = 5;
const MISSING_SECONDS = 30;
const infrastructureCodes: ReadonlySet<string> = new Set(['store_unavailable', 'unavailable']);

/** What each kind of batch does in the jobs about a whole batch. */
export interface BatchWorks {
  split: { [Kind in BatchKind]: (context: JobContext, batch: BatchOf<Kind>) => Promise<void> };
  finish(context: JobContext, batchId: string): Promise<void>;
  quote(context: JobContext, held: HeldBatch): Promise<NotDone | null>;
}
export const batchJobNames = ['finish-batch', 'split-batch', 'write-ids', 'quote-batch'] as const;

/** The account that this process served last with each job; its next claim is of one that comes after. */
const lastServed = new Map<BatchJob, string>();

/** The jobs about whole batches. */
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

/** Does what it was woken for, and goes on with what else waits for a job of the same queue. Throws the first error. */
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
      if (!slot.mayGoOn()) return undefined;
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
  // Others go on with what a worker leaves that is to end.
  if (!slot.mayGoOn()) for (const name of ofQueue) await wakeWaiting(context, name, 0);
  if (errors.length > 0) throw errors[0];
}

/** Wakes workers for what waits for the job and is at least so old. */
export async function wakeWaiting(
  { sql, queues }: Pick<JobContext, 'sql' | 'queues'>,
  job: BatchJob,
  olderThanSeconds: number,
): Promise<void> {
  const waiting = await listWaiting(sql, job, olderThanSeconds);
  await queues.wake(
    job,
    waiting.map(({ id, traceParent: trace }) => ({
      id: `${job}-${id}`,
      payload: { batchId: id },
      trace,
    })),
  );
}

/** Does the job of a claim. Throws what made it fail, unless that is a reason for the end of the batch. */
async function runClaim(context: JobContext, works: BatchWorks, claim: BatchClaim): Promise<void> {
  const { batch, job } = claim;
  const { held, stop } = holdBatch(context, claim);
  const attributes = { 'enrich.batch': batch.id, 'enrich.kind': batch.kind };
  const span = { name: job, from: performance.now(), attributes };
  try {
    // Each worker that had it in hand died.
    if (claim.attempts > ATTEMPTS_MAX) return await giveUp(context, claim);
    const notDone = await tracedIn(claim.traceParent, span, () => work(context, works, held));
    if (notDone !== null) await releaseBatch(context.sql, batch.id, { ...notDone, counts: false });
  } catch (error) {
    if (!(await held.isWanted().catch(() => true))) {
      context.log.info({ err: error, batch: batch.id, job }, 'job of a batch ended in vain');
      await releaseBatch(context.sql, batch.id, { retryAfterSeconds: 0, counts: false });
      return;
    }
    if (isReason(error)) return await endWithError(context, batch.id, error);
    await recordFailure(context, claim, error);
    context.log.error({ err: error, batch: batch.id, job }, 'job of a batch failed');
    throw error;
  } finally {
    stop();
  }
}

/** True for what says why the batch cannot be processed: another attempt would end the same way. */
function isReason(error: unknown): error is AppError {
  return error instanceof AppError && !isObjectMissing(error) && !isInfrastructure(error);
}

/** Lets the job be tried again later, or ends the batch. */
async function recordFailure(
  context: JobContext,
  claim: BatchClaim,
  error: unknown,
): Promise<void> {
  const { batch, attempts } = claim;
  const again = (retryAfterSeconds: number, counts: boolean) =>
    releaseBatch(context.sql, batch.id, { retryAfterSeconds, counts });
  if (isObjectMissing(error)) {
    await again(MISSING_SECONDS, false);
    await endWhenObjectMissing(context, batch);
  } else if (isInfrastructure(error)) {
    await again(UNAVAILABLE_SECONDS, false);
  } else if (attempts >= ATTEMPTS_MAX) {
    await giveUp(context, claim);
  } else {
    await again(Math.min(PAUSE_SECONDS_MAX, 2 ** attempts), true);
  }
}

/** A batch without a price is still one; any other job is needed. */
async function giveUp(context: JobContext, { job, batch }: BatchClaim): Promise<void> {
  if (job === 'quote-batch') await dropQuote(context.sql, batch.id);
  else await endWithError(context, batch.id, processingFailed(batch));
}

/** True for what the database, the store or the system is to blame for: the same work succeeds once they are back. */
function isInfrastructure(error: unknown): boolean {
  if (error instanceof AppError) return infrastructureCodes.has(error.code);
  const isOfSystem = typeof (error as { syscall?: unknown } | null)?.syscall === 'string';
  return isOfSystem || isUnavailable(error);
}
