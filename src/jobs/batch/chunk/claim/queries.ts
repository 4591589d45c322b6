/**
 * Who runs what next: wake-ups for the queue, and the claims of workers. A claim raises the epoch of its chunk,
 * which fences off whoever held it before, and gives a lease on the database's clock.
 */
import type { Sql } from '../../../../core/db/client.ts';
import { type Batch, batchColumns } from '../../queries.ts';

/** Seconds that a claim lasts unless it is extended. */
const LEASE_SECONDS = 15;

/** One dispatcher at a time counts what is in flight; shared by all that dispatch. */
const DISPATCH_LOCK = 7_318_224_906;

/** Each time that a claim comes too late another worker got the chunk: so many in a row are no accident. */
const CLAIM_ATTEMPTS = 20;

export interface ChunkWakeUp {
  chunkId: number;
  epoch: number;
}

export interface DispatchedChunk extends ChunkWakeUp {
  place: number;
}

/** When a lease ends that is given or extended now. */
export function leaseEnd(sql: Sql) {
  return sql`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;
}

/**
 * CTE `open`: the batches that may run, with their chunks under lease and those in flight, which are leased or
 * have a wake-up on its way. By batch, because an index leads there: of paused ones there may be any number.
 */
function openBatches(sql: Sql) {
  return sql`
    open as (
      select b.id, b.account_id, b.created_at, b.dedupe, f.leased, f.in_flight
      from batches b cross join lateral (
        select count(*) filter (where state = 'leased') as leased, count(*) as in_flight
        from chunks where batch_id = b.id and state in ('leased', 'dispatched')) f
      where b.state in ('queued', 'running', 'cancelling'))`;
}

/** Whether a chunk of the open batch `b` may run now. */
function mayRun(sql: Sql) {
  return sql`
    (run_after is null or run_after <= clock_timestamp())
    -- Which row of a record comes first is known only when chunks run one after the other.
    and (not b.dedupe or number = (
      select min(number) from chunks where batch_id = b.id and state <> 'done'))`;
}

/**
 * Chooses what is woken next: the account with the fewest chunks in flight first, its oldest batch, in file
 * order, at most `perAccount` in flight for each account. Call inside a transaction, and enqueue what it
 * returns after the commit.
 */
export async function dispatchChunks(sql: Sql, perAccount: number): Promise<DispatchedChunk[]> {
  await sql`select pg_advisory_xact_lock(${DISPATCH_LOCK})`;
  return sql<DispatchedChunk[]>`
    with ${openBatches(sql)},
    candidates as (
      select c.id, a.in_flight + row_number() over (
        partition by b.account_id order by b.created_at, b.id, c.number) as place
      from open b
      join (
        select account_id, sum(in_flight)::int as in_flight from open group by account_id
      ) a using (account_id)
      cross join lateral (
        select id, number from chunks
        where batch_id = b.id and state = 'pending' and ${mayRun(sql)}
        order by number limit case when b.dedupe then 1 else ${perAccount} end) c
      where a.in_flight < ${perAccount})
    update chunks set state = 'dispatched', dispatched_at = clock_timestamp()
    from candidates
    where chunks.id = candidates.id and candidates.place <= ${perAccount}
      and chunks.state = 'pending'
    returning chunks.id as chunk_id, chunks.epoch, candidates.place`;
}

/** What a worker needs to run a chunk. */
export interface ClaimedChunk {
  chunkId: number;
  epoch: number;
  batchId: string;
  number: number;
  byteFrom: number;
  byteTo: number;
  firstRow: number;
  firstLine: number;
  rows: number;
  rowsDone: number;
  parts: number;
  failures: number;
  keyId: string;
  rowsPerMinute: number | null;
  /** Rows that the next part may hold; null for all that are left. */
  partRowsMax: number | null;
}

/** A chunk under lease, and all else that a worker asks at its start. */
export interface Claim {
  chunk: ClaimedChunk;
  /** As it was just before the claim. */
  batch: Batch;
  /** The trace of the batch's upload. */
  traceParent: string | null;
  /** The number of the last suppression in the batch's graph, before anything is matched. */
  lastSuppression: number;
}

/**
 * Takes the lease on a dispatched chunk and raises its epoch; the first claim of a batch starts it.
 * Undefined when the wake-up is old, another worker was first, or the batch neither runs nor is being
 * cancelled.
 */
export async function claimChunk(sql: Sql, wakeUp: ChunkWakeUp): Promise<Claim | undefined> {
  const claimed = await claim(
    sql,
    sql`
      chosen as (
        select id, batch_id, state, epoch from chunks
        where id = ${wakeUp.chunkId} and epoch = ${wakeUp.epoch} and state = 'dispatched')`,
  );
  return claimed === 'too late' ? undefined : claimed;
}

/**
 * Claims what should run next, for a worker that is done with its chunk: of the accounts with the fewest chunks
 * that run the one that comes after the account `after`, as ids go, round and round; its oldest batch, in file
 * order. A wake-up that the chunk may have comes too late then, and does no harm. No more than `perAccount` of an
 * account are in flight. Undefined when there is nothing. Without a lock: workers that ask at one moment choose
 * the same chunk, one gets it, and the others choose again.
 */
export async function claimNextChunk(
  sql: Sql,
  { perAccount, after }: { perAccount: number; after: string | null },
): Promise<Claim | undefined> {
  for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt++) {
    const claimed = await claim(sql, chooseNext(sql, perAccount, after));
    if (claimed !== 'too late') return claimed;
  }
  return undefined;
}

/** CTE `chosen` of `claimNextChunk`, and those before it. */
function chooseNext(sql: Sql, perAccount: number, after: string | null): ReturnType<Sql> {
  const first = sql`select id, batch_id, number, state, epoch from chunks`;
  return sql`
    ${openBatches(sql)},
    account as (
      select account_id, sum(leased) as leased, sum(in_flight) as in_flight,
        account_id <= ${after}::uuid as had_its_turn
      from open group by account_id),
    chosen as (
      select c.id, c.batch_id, c.state, c.epoch
      from (select * from account order by leased, had_its_turn, account_id) a
      cross join lateral (
        select c.* from open b
        cross join lateral (
          -- One state at a time, and not as a parameter: the index over what is not done begins with it.
          (${first} where batch_id = b.id and state = 'dispatched' and ${mayRun(sql)}
            order by number limit 1)
          union all
          (${first} where batch_id = b.id and state = 'pending' and ${mayRun(sql)}
            and a.in_flight < ${perAccount} order by number limit 1)
          order by number limit 1) c
        where b.account_id = a.account_id
        order by b.created_at, b.id limit 1) c
      order by a.leased, a.had_its_turn, a.account_id limit 1)`;
}

/**
 * Claims the chunk of the CTE `chosen`: undefined when there is none, and `too late` when somebody moved it
 * since it was read.
 */
async function claim(sql: Sql, chosen: ReturnType<Sql>): Promise<Claim | 'too late' | undefined> {
  type Row = ClaimedChunk & Batch & Pick<Claim, 'traceParent' | 'lastSuppression'>;
  const [row] = await sql<(Row | { chunkId: null })[]>`
    with ${chosen},
    batch as (
      select ${batchColumns(sql)}, trace_parent,
        (select rows_per_minute from api_keys where api_keys.id = key_id) as rows_per_minute,
        case when live then (select coalesce(max(number), 0) from graph.suppressions)
          else (select coalesce(max(number), 0) from graph_test.suppressions)
          end as last_suppression
      from batches
      where id = (select batch_id from chosen) and state in ('queued', 'running', 'cancelling')),
    started as (
      update batches set state = 'running', started_at = clock_timestamp()
      from batch where batches.id = batch.id and batch.state = 'queued'
        and batches.state = 'queued'
      returning batches.id),
    claimed as (
      update chunks c set state = 'leased', epoch = c.epoch + 1, lease_until = ${leaseEnd(sql)}
      from chosen join batch on batch.id = chosen.batch_id
        left join started on started.id = batch.id
      where c.id = chosen.id and c.state = chosen.state and c.epoch = chosen.epoch
      returning c.id as chunk_id, c.epoch, c.batch_id, c.number, c.byte_from, c.byte_to, c.first_row,
        c.first_line, c.rows, c.rows_done, c.parts, c.failures, c.part_rows_max)
    select claimed.*, batch.* from chosen left join claimed on true left join batch on true`;
  if (row === undefined) return undefined;
  if (row.chunkId === null) return 'too late';
  const { traceParent, lastSuppression } = row;
  return { chunk: row, batch: row, traceParent, lastSuppression };
}
