/**
 * Jobs about a whole batch: which batches wait for one, and the claims of workers. A batch that is claimed is
 * leased on the database's clock; of each account one batch is claimed at a time for each kind of job, and
 * accounts are served round-robin. Nothing is fenced: every job may run twice.
 */
import { inTransaction, type Sql } from '../../core/db/client.ts';
import type { JobName } from '../queue/job-names.ts';
import type { Batch } from './batch.ts';
import { batchColumns } from './batches.sql.ts';

/** A job that moves a batch on from a state that it would not leave otherwise. */
export type BatchJob = Extract<
  JobName,
  'split-batch' | 'write-ids' | 'finish-batch' | 'quote-batch'
>;

/** Seconds that a claim lasts unless it is extended. */
const LEASE_SECONDS = 15;

/** One claim at a time, so that no account gets two; shared by all workers. */
const CLAIM_LOCK = 7_318_224_907;

/** Each time that a claim comes too late another worker got the batch: so many in a row are no accident. */
const CLAIM_ATTEMPTS = 20;

/** Batches of one account that a sweep wakes at most, and in all. Workers that are awake go on by themselves. */
const LISTED = { perAccount: 10, max: 100 } as const;

/** The batches that wait for the job, whoever has them in hand. Each condition is one of a partial index. */
function awaits(sql: Sql, job: BatchJob) {
  switch (job) {
    case 'split-batch':
      return sql`(kind = 'list' and state in ('created', 'validating') and chunks_total is null)`;
    case 'write-ids':
      return sql`(kind = 'export' and state in ('created', 'validating') and chunks_total is null)`;
    case 'finish-batch':
      return sql`(state in ('finalizing', 'cancelling') and chunks_total is not null
        and chunks_done = chunks_total)`;
    case 'quote-batch':
      return sql`(state = 'ready' and quote ->> 'state' = 'running')`;
  }
}

/** Of those, the ones that nobody has in hand and that wait for no time to come. */
function isDue(sql: Sql) {
  return sql`
    (job_after is null or job_after <= clock_timestamp())
    and (job_lease_until is null or job_lease_until <= clock_timestamp())`;
}

function leaseEnd(sql: Sql) {
  return sql`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;
}

/** CTE `account`: the accounts with a batch that waits for the job, one step in the index for each. */
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

/** Whether a worker has a batch of the account in hand for the job. */
function isServed(sql: Sql, job: BatchJob, accountId: ReturnType<Sql>) {
  return sql`
    exists (
      select from batches
      where account_id = ${accountId} and job_lease_until > clock_timestamp() and ${awaits(sql, job)})`;
}

/**
 * Batches that wait for the job, the oldest of each account first, then the second of each, and so on. What was
 * made in the last `olderThanSeconds` has a wake-up of its own on its way.
 */
export async function listWaiting(
  sql: Sql,
  job: BatchJob,
  olderThanSeconds: number,
): Promise<{ id: string; traceParent: string | null }[]> {
  return sql<{ id: string; traceParent: string | null }[]>`
    with ${accountsWaiting(sql, job)}
    select b.id, b.trace_parent from account
    cross join lateral (
      select id, trace_parent, created_at from batches
      where account_id = account.id and ${awaits(sql, job)} and ${isDue(sql)}
        and created_at < now() - make_interval(secs => ${olderThanSeconds})
      order by created_at, id limit ${LISTED.perAccount}) b
    order by row_number() over (partition by account.id order by b.created_at, b.id), b.created_at
    limit ${LISTED.max}`;
}

/** A batch in hand. */
export interface BatchClaim {
  job: BatchJob;
  /** As the claim left it. */
  batch: Batch;
  /** The trace of its upload. */
  traceParent: string | null;
  /** Claims in a row that did not end well, this one included. */
  attempts: number;
}

/** Claims this batch for the job, unless it does not wait for it or its account is served already. */
export async function claimBatch(
  sql: Sql,
  job: BatchJob,
  id: string,
): Promise<BatchClaim | undefined> {
  type Row = Batch & { traceParent: string | null; jobAttempts: number };
  return inTransaction(sql, async (tx) => {
    await tx`select pg_advisory_xact_lock(${CLAIM_LOCK})`;
    const [row] = await tx<Row[]>`
      update batches b set job_lease_until = ${leaseEnd(sql)}, job_attempts = job_attempts + 1,
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
 * Claims the batch that has waited longest of the account that comes after the account `after`, as ids go,
 * round and round. Undefined when none is to be had. Most ask in vain, so the lock is taken for a batch that was
 * found; workers that find the same one at the same moment look again.
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

/** The batch of a claim, while it waits for the job as it did when it was claimed. */
function ofClaim(sql: Sql, { job, batch }: BatchClaim) {
  const askedAt = batch.quote?.asked_at ?? null;
  return sql`
    id = ${batch.id} and ${awaits(sql, job)}
    and (${job} <> 'quote-batch' or quote ->> 'asked_at' = ${askedAt})`;
}

/** False once the batch was cancelled, changed, started or, for a quote, asked again. */
export async function isAwaited(sql: Sql, claim: BatchClaim): Promise<boolean> {
  const found = await sql`select id from batches where ${ofClaim(sql, claim)}`;
  return found.length > 0;
}

/** Extends the claim of a batch that still waits for the job. */
export async function extendClaim(sql: Sql, claim: BatchClaim): Promise<void> {
  await sql`update batches set job_lease_until = ${leaseEnd(sql)} where ${ofClaim(sql, claim)}`;
}

/**
 * Ends a claim whose job is not done; the next one may be made in `retryAfterSeconds`. `counts` is false for what
 * is no failure of the batch.
 */
export async function releaseBatch(
  sql: Sql,
  id: string,
  { retryAfterSeconds, counts }: { retryAfterSeconds: number; counts: boolean },
): Promise<void> {
  await sql`
    update batches set job_lease_until = null,
      job_after = clock_timestamp() + make_interval(secs => ${retryAfterSeconds}),
      job_attempts = case when ${counts} then job_attempts else greatest(job_attempts - 1, 0) end
    where id = ${id}`;
}
