/**
 * Claims of batch jobs (jobs about a whole batch). A claimed batch is leased on the database's clock; one batch
 * per account and kind of job is claimed at a time, and accounts are served round-robin. There is no fencing:
 * every job may run twice.
 */

import { inTransaction, type Sql } from '../../core/db/client.ts';
import { turnLock } from '../../core/db/turn-lock.ts';
import { wordList } from '../../core/db/word-list.ts';
import type { JobName } from '../queue/job-names.ts';
import type { Batch } from './batch.ts';
import { batchColumns } from './batches.sql.ts';
import { CLAIM_ATTEMPTS, claimEnd, isClaimed, retryPause } from './lease.sql.ts';
import { endingStates, unsplitStates } from './states.ts';

/** A job that moves a batch out of a state that it would not leave otherwise. */
export type BatchJob = Extract<
  JobName,
  'split-batch' | 'write-ids' | 'finish-batch' | 'quote-batch'
>;

/** Advisory lock: one claim at a time across workers, so that no account gets two. */
const CLAIM_LOCK = 7_318_224_907;

/** Maximum batches that a sweep wakes per account and in all. Awake workers continue on their own. */
const LISTED = { perAccount: 10, max: 100 } as const;

/** The batches that wait for the job, claimed or not. Each condition matches a partial index. */
function awaits(sql: Sql, job: BatchJob) {
  switch (job) {
    case 'split-batch':
      return sql`(kind = 'list' and state in ${wordList(sql, unsplitStates)} and chunks_total is null)`;
    case 'write-ids':
      return sql`(kind = 'export' and state in ${wordList(sql, unsplitStates)} and chunks_total is null)`;
    case 'finish-batch':
      return sql`(state in ${wordList(sql, endingStates)} and chunks_total is not null
        and chunks_done = chunks_total)`;
    case 'quote-batch':
      return sql`(state = 'ready' and quote ->> 'state' = 'running')`;
  }
}

/** Those among them that are unclaimed and whose pause is over. */
function isDue(sql: Sql) {
  return sql`
    ${retryPause.lasts(sql, sql`job_after`)} is not true
    and ${isClaimed(sql, sql`job_lease_until`)} is not true`;
}

/** CTE `account`: the accounts with a batch that waits for the job, one index descent for each. */
function accountsWaiting(sql: Sql, job: BatchJob) {
  return sql`
    recursive account (id) as (
      (select account_id from batches where ${awaits(sql, job)} order by account_id limit 1)
      union all
      select (
        select account_id from batches
        where account_id > account.id and ${awaits(sql, job)} order by account_id limit 1)
      from account where account.id is not null)`;
}

/** The condition that a worker holds a batch of the account for the job. */
function isServed(sql: Sql, job: BatchJob, accountId: ReturnType<Sql>) {
  return sql`
    exists (
      select from batches
      where account_id = ${accountId} and ${isClaimed(sql, sql`job_lease_until`)} and ${awaits(sql, job)})`;
}

/** A batch that waits for a job. */
interface WaitingBatch {
  id: string;
  /** The trace of its upload. */
  traceParent: string | null;
  /** Unsuccessful claims in a row. */
  attempts: number;
}

/**
 * Batches that wait for the job, the oldest of each account first, then the second of each, and so on. Batches
 * younger than `olderThanSeconds` should still have a wake-up on its way; those of a time to come were created before
 * the clock was set back.
 */
export async function listWaiting(
  sql: Sql,
  job: BatchJob,
  olderThanSeconds: number,
): Promise<WaitingBatch[]> {
  return sql<WaitingBatch[]>`
    with ${accountsWaiting(sql, job)}
    select b.id, b.trace_parent, b.attempts from account
    cross join lateral (
      select id, trace_parent, created_at, job_attempts as attempts from batches
      where account_id = account.id and ${awaits(sql, job)} and ${isDue(sql)}
        and not created_at between now() - make_interval(secs => ${olderThanSeconds}) and now()
      order by created_at, id limit ${LISTED.perAccount}) b
    order by row_number() over (partition by account.id order by b.created_at, b.id), b.created_at
    limit ${LISTED.max}`;
}

export interface BatchClaim {
  job: BatchJob;
  /** The batch after the claim. */
  batch: Batch;
  /** The trace of its upload. */
  traceParent: string | null;
  /** Unsuccessful claims in a row, including this one. */
  attempts: number;
}

/**
 * Claims this batch for the job. Undefined when it does not wait for the job or its account is being served.
 */
export async function claimBatch(
  sql: Sql,
  job: BatchJob,
  id: string,
): Promise<BatchClaim | undefined> {
  type Row = Batch & { traceParent: string | null; jobAttempts: number };
  return inTransaction(sql, async (tx) => {
    await tx`select ${turnLock(tx, CLAIM_LOCK)}`;
    const [row] = await tx<Row[]>`
      update batches b set job_lease_until = ${claimEnd(sql)}, job_attempts = job_attempts + 1,
        state = case when state = 'created' then 'validating' else state end
      where id = ${id} and ${awaits(sql, job)} and ${isDue(sql)}
        and not ${isServed(sql, job, sql`b.account_id`)}
      returning ${batchColumns(sql)}, trace_parent, job_attempts`;
    if (row === undefined) return undefined;
    const { traceParent, jobAttempts: attempts, ...batch } = row;
    return { job, batch: batch as Batch, traceParent, attempts };
  });
}

/**
 * Claims the batch that has waited longest of the next account after `after`, round-robin by id. Undefined when
 * there is none. Most calls find nothing, so the lock is taken only for a batch that was found; workers that
 * find the same one concurrently look again.
 */
export async function claimNextBatch(
  sql: Sql,
  job: BatchJob,
  after: string | null,
): Promise<BatchClaim | undefined> {
  for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt++) {
    const [found] = await sql<{ id: string }[]>`
      with ${accountsWaiting(sql, job)}
      select oldest.id from account
      cross join lateral (
        select id from batches
        where account_id = account.id and ${awaits(sql, job)} and ${isDue(sql)}
        order by created_at, id limit 1) oldest
      where not ${isServed(sql, job, sql`account.id`)}
      order by account.id <= ${after}::uuid, account.id limit 1`;
    if (found === undefined) return undefined;
    const claim = await claimBatch(sql, job, found.id);
    if (claim !== undefined) return claim;
  }
  return undefined;
}

/** The condition that a claimed batch still waits for the job as it did when claimed. */
function ofClaim(sql: Sql, { job, batch }: BatchClaim) {
  const askedAt = batch.quote?.asked_at ?? null;
  return sql`
    id = ${batch.id} and ${awaits(sql, job)}
    and (${job} <> 'quote-batch' or quote ->> 'asked_at' = ${askedAt})`;
}

/** False once the batch was cancelled, changed, started or, for a quote, requested again. */
export async function isAwaited(sql: Sql, claim: BatchClaim): Promise<boolean> {
  const found = await sql`select id from batches where ${ofClaim(sql, claim)}`;
  return found.length > 0;
}

/** Extends the claim of a batch that still waits for the job. */
export async function extendClaim(sql: Sql, claim: BatchClaim): Promise<void> {
  await sql`update batches set job_lease_until = ${claimEnd(sql)} where ${ofClaim(sql, claim)}`;
}

/**
 * Ends a claim whose job is not done; the next claim is possible after `retryAfterSeconds`. `counts` is false
 * for failures not caused by the batch. Does nothing when the batch was claimed again since, which has raised its attempts.
 */
export async function releaseBatch(
  sql: Sql,
  { batch, attempts }: Pick<BatchClaim, 'attempts'> & { batch: Pick<Batch, 'id'> },
  { retryAfterSeconds, counts }: { retryAfterSeconds: number; counts: boolean },
): Promise<void> {
  await sql`
    update batches set job_lease_until = null,
      job_after = ${retryPause.end(sql, retryAfterSeconds)},
      job_attempts = case when ${counts} then job_attempts else greatest(job_attempts - 1, 0) end
    where id = ${batch.id} and job_attempts <= ${attempts}`;
}
