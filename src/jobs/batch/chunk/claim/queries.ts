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

/** No account has the first; every account comes before the second. */
const UUID_MIN = '00000000-0000-0000-0000-000000000000';
const UUID_MAX = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

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
 * CTEs `flight` and `busy`: the chunks of runnable batches that are leased or have a wake-up on its way, and
 * their number by account. In-flight chunks are few, and found by an index of their own; each looks up its
 * batch by id, whatever the planner believes of their number.
 */
function inFlight(sql: Sql) {
  return sql`
    flight as materialized (
      select c.id, c.batch_id, c.number, c.state, c.epoch, b.account_id, b.created_at
      from chunks c cross join lateral (
        select account_id, created_at from batches
        where id = c.batch_id and state in ('queued', 'running', 'cancelling') limit 1) b
      where c.state in ('dispatched', 'leased')),
    busy as materialized (
      select account_id, count(*) filter (where state = 'leased') as leased, count(*) as in_flight
      from flight group by account_id)`;
}

/**
 * CTE `turn`: the accounts with claimable batches, with their chunks in flight; first those that come after the
 * account `after`, as ids go, then the others. Each is one step in an index, taken when its row is asked for:
 * who needs the first account reads no other. Rows of `step` 0 are no accounts.
 */
function accountsInTurn(sql: Sql, after: string | null) {
  return sql`
    turn (account_id, had_its_turn, step) as (
      select coalesce(${after}::uuid, ${UUID_MIN}::uuid), ${after}::uuid is null, 0
      union all
      -- The step that finds nobody goes back to the first account, once.
      select coalesce(next.account_id, ${UUID_MIN}::uuid), had_its_turn or next.account_id is null,
        case when next.account_id is null then 0 else 1 end
      from turn left join lateral (
        select claimable_account as account_id from batches
        where claimable_account > turn.account_id
          and claimable_account <= case when had_its_turn then coalesce(${after}::uuid, ${UUID_MAX}::uuid)
            else ${UUID_MAX}::uuid end
        order by claimable_account limit 1) next on true
      where not had_its_turn or next.account_id is not null),
    account as (
      select turn.account_id, coalesce(f.leased, 0) as leased, coalesce(f.in_flight, 0) as in_flight
      from turn left join lateral (
        select leased, in_flight from busy where account_id = turn.account_id limit 1) f on true
      where step > 0)`;
}

/** Whether a chunk of the batch `b` may run now. */
function mayRun(sql: Sql) {
  return sql`
    (run_after is null or run_after <= clock_timestamp())
    -- Which row of a record comes first is known only when chunks run one after the other.
    and (not b.dedupe or number = (
      select min(number) from chunks where batch_id = b.id and state <> 'done'))`;
}

/**
 * Chooses what is woken next, `most` chunks at most: the accounts with the fewest chunks in flight first, of each
 * its oldest batch, in file order, at most `perAccount` in flight for each account. Call inside a transaction,
 * and enqueue what it returns after the commit. Reads no more than `most` accounts that have something to run.
 */
export async function dispatchChunks(
  sql: Sql,
  { perAccount, most }: { perAccount: number; most: number },
): Promise<DispatchedChunk[]> {
  await sql`select pg_advisory_xact_lock(${DISPATCH_LOCK})`;
  return sql<DispatchedChunk[]>`
    with recursive ${inFlight(sql)}, ${accountsInTurn(sql, null)},
    candidates as (
      select c.id, a.in_flight + c.place as place
      from account a cross join lateral (
        select id, row_number() over (order by created_at, batch_id, number) as place from (
          select c.id, c.number, b.id as batch_id, b.created_at
          from batches b cross join lateral (
            select id, number from chunks
            where batch_id = b.id and state = 'pending' and ${mayRun(sql)}
            order by number limit case when b.dedupe then 1 else ${most} end) c
          where b.claimable_account = a.account_id
          order by b.created_at, b.id, c.number
          limit greatest(0, least(${perAccount} - a.in_flight, ${most}))) c) c
      limit ${most * most}),
    chosen as (select id, place from candidates order by place limit ${most})
    update chunks set state = 'dispatched', dispatched_at = clock_timestamp()
    from chosen
    where chunks.id = chosen.id and chunks.state = 'pending'
    returning chunks.id as chunk_id, chunks.epoch, chosen.place`;
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
  /** Of its bytes; null for a chunk of a version that recorded none. */
  crc32: number | null;
  rowsDone: number;
  parts: number;
  failures: number;
  keyId: string;
  /** The key whose bucket its rows are taken from: that of the batch, or its maker's. */
  rowsOf: string;
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
    ${inFlight(sql)}, ${accountsInTurn(sql, after)},
    chosen as (
      select c.id, c.batch_id, c.state, c.epoch
      from (
        -- Nothing but the first account that has a chunk is read: few others come before it.
        (select account_id, in_flight from account where leased = 0)
        union all
        (select account_id, in_flight from busy where leased > 0
          order by leased, account_id <= ${after}::uuid, account_id)) a
      cross join lateral (
        (select c.* from batches b cross join lateral (
            -- One state at a time, and not as a parameter: the index over what is not done begins with it.
            (${first} where batch_id = b.id and state = 'dispatched' and ${mayRun(sql)}
              order by number limit 1)
            union all
            (${first} where batch_id = b.id and state = 'pending' and ${mayRun(sql)}
              order by number limit 1)
            order by number limit 1) c
          where b.claimable_account = a.account_id and a.in_flight < ${perAccount}
          order by b.created_at, b.id limit 1)
        union all
        -- An account with its maximum in flight continues with what is dispatched already.
        (select id, batch_id, number, state, epoch from flight
          where account_id = a.account_id and state = 'dispatched' and a.in_flight >= ${perAccount}
          order by created_at, batch_id, number limit 1)
        limit 1) c
      limit 1)`;
}

/**
 * Claims the chunk of the CTE `chosen`: undefined when there is none, and `too late` when somebody moved it
 * since it was read.
 */
async function claim(sql: Sql, chosen: ReturnType<Sql>): Promise<Claim | 'too late' | undefined> {
  type Row = ClaimedChunk & Batch & Pick<Claim, 'traceParent' | 'lastSuppression'>;
  const [row] = await sql<(Row | { chunkId: null })[]>`
    with recursive ${chosen},
    batch as (
      select ${batchColumns(sql)}, trace_parent,
        (select rows_of from api_keys where api_keys.id = key_id) as rows_of,
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
        c.first_line, c.rows, c.crc32, c.rows_done, c.parts, c.failures, c.part_rows_max)
    select claimed.*, batch.* from chosen left join claimed on true left join batch on true`;
  if (row === undefined) return undefined;
  if (row.chunkId === null) return 'too late';
  const { traceParent, lastSuppression } = row;
  return { chunk: row, batch: row, traceParent, lastSuppression };
}
