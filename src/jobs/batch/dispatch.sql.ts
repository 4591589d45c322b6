/** Chooses the chunks to dispatch next. */
import type { Sql } from '../../core/db/client.ts';
import { turnLock } from '../../core/db/turn-lock.ts';
import { wordList } from '../../core/db/word-list.ts';
import { personSearch } from '../../core/operations.ts';
import { retryPause } from './lease.sql.ts';
import { runnableStates } from './states.ts';

/** Advisory lock: one dispatcher at a time counts the chunks that wait and those in flight. */
const DISPATCH_LOCK = 7_318_224_906;

/** Bounds of account ids: none equals the first, and all precede the second. */
const UUID_MIN = '00000000-0000-0000-0000-000000000000';
const UUID_MAX = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A chunk as of its dispatch. A claim needs the same epoch. */
export interface ChunkWakeUp {
  chunkId: number;
  epoch: number;
}

/** A dispatched chunk with what names its job. */
export interface DispatchedChunk extends ChunkWakeUp {
  batchId: string;
  number: number;
  /** Failures of the chunk so far. */
  failures: number;
}

/**
 * CTE `busy`: the accounts with chunks in flight, and their number: chunks of runnable batches that are leased or, as only
 * those of `waiting`, have a job. They are few and have their own index; each looks up its batch by id, whatever number the
 * planner estimates. CTE `last`: the account whose chunk was dispatched last, if any is in flight.
 */
function busyAccounts(sql: Sql) {
  return sql`
    busy as materialized (
      select b.account_id, count(*) as in_flight, count(*) filter (where c.state = 'dispatched') as waiting,
        max(c.dispatched_at) as dispatched_at
      from chunks c cross join lateral (
        select account_id from batches
        where id = c.batch_id and state in ${wordList(sql, runnableStates)} limit 1) b
      where c.state in ('dispatched', 'leased')
      group by b.account_id),
    last as materialized (select account_id from busy order by dispatched_at desc limit 1)`;
}

/** Expression: the account after which the round goes on. */
function lastServed(sql: Sql) {
  return sql`(select account_id from last)`;
}

/**
 * CTE `turn`: the accounts with claimable batches, with their chunks in flight: first those after the account that was
 * served last, by id, then the others. Each is one index descent, made when its row is requested: a query for the
 * first account reads no other. Rows of `step` 0 are not accounts.
 */
function accountsInTurn(sql: Sql) {
  const after = lastServed(sql);
  return sql`
    turn (account_id, had_its_turn, step) as (
      select coalesce(${after}, ${UUID_MIN}::uuid), ${after} is null, 0
      union all
      -- The step that finds no account goes back to the first account, once.
      select coalesce(next.account_id, ${UUID_MIN}::uuid), had_its_turn or next.account_id is null,
        case when next.account_id is null then 0 else 1 end
      from turn left join lateral (
        select claimable_account as account_id from batches
        where claimable_account > turn.account_id
          and claimable_account <= case when had_its_turn then coalesce(${after}, ${UUID_MAX}::uuid)
            else ${UUID_MAX}::uuid end
        order by claimable_account limit 1) next on true
      where not had_its_turn or next.account_id is not null),
    account as (
      select turn.account_id, coalesce(b.in_flight, 0) as in_flight
      from turn left join lateral (
        select in_flight from busy where account_id = turn.account_id limit 1) b on true
      where step > 0)`;
}

/**
 * The condition that chunks of the batch `b` run one after the other: with dedupe, so that the first row of a record is
 * known; in an export that its `max_credits` may cut, so that it has the first people in its order.
 */
function runsInOrder(sql: Sql) {
  return sql`(b.dedupe or b.kind = 'export' and b.live
    and b.max_credits < b.rows_total::bigint * ${personSearch.price}::bigint)`;
}

/**
 * The condition that a chunk of the batch `b` may run now. A batch that waits for its first claim has only one chunk in
 * flight: it would take all idle workers a moment before other batches come.
 */
function mayRun(sql: Sql) {
  return sql`
    ${retryPause.lasts(sql, sql`run_after`)} is not true
    and (b.state <> 'queued' and ${runsInOrder(sql)} is not true or number = (
      select min(number) from chunks where batch_id = b.id and state <> 'done'))`;
}

/**
 * Chunks that wait for a worker while few are leased. More than a few could not be reordered for an account that comes next;
 * with fewer, a worker that ends a chunk would find none.
 */
const WAITING_MIN = 4;
/**
 * Maximum rows of a part while accounts wait for their turn, which comes sooner then, and of a batch's first part, which may
 * begin a moment before other batches. A part has a cost of its own: shorter ones would cost more than they spare.
 */
const SHORT_PART_ROWS = 5_000;
/**
 * Maximum rows of a part of a list that is matched by names. Such a row takes a worker up to 5 ms, a hundred times as long as one
 * with an address: a few longer parts would keep all places of all workers from the lists of others for up to a minute. A
 * cancelled list is no longer matched, so its chunks are not shortened.
 */
const LIKELY_PART_ROWS = 500;

/**
 * Chooses chunks to dispatch, until as many wait for a worker as workers have leased: accounts with the fewest chunks in
 * flight first, round-robin by id after the account that was served last; of each its oldest batch, in file order. At most
 * `perAccount` chunks of an account are in flight, and at most `waitingMax` of all accounts wait. Call in a transaction, and
 * enqueue the returned chunks, in their order, after the commit. Reads at most `waitingMax` squared chunks, and few accounts
 * after the last of them.
 */
export async function dispatchChunks(
  sql: Sql,
  { perAccount, waitingMax }: { perAccount: number; waitingMax: number },
): Promise<DispatchedChunk[]> {
  // A crash of the server may forget the choice, as it may forget the jobs: both come again.
  await sql`select ${turnLock(sql, DISPATCH_LOCK)}, set_config('synchronous_commit', 'off', true)`;
  const room = sql`(select chunks from room)`;
  const after = lastServed(sql);
  return sql<DispatchedChunk[]>`
    with recursive ${busyAccounts(sql)}, ${accountsInTurn(sql)},
    -- Counted under the lock: dispatchers that each saw the same room would fill the queue several times.
    room as materialized (
      select greatest(0, least(${waitingMax}, greatest(${WAITING_MIN}, leased)) - waiting)::int as chunks
      from (
        select coalesce(sum(waiting), 0) as waiting, coalesce(sum(in_flight - waiting), 0) as leased
        from busy) now),
    crowd as materialized (
      select count(*) > ${room} as waits
      from (select from account where in_flight = 0 limit ${room} + 1) idle),
    candidates as (
      select c.id, c.starts, a.account_id, a.in_flight + c.place as place
      from (
        (select account_id, in_flight from account where in_flight = 0)
        union all
        (select account_id, in_flight from busy
          order by in_flight, account_id <= ${after}, account_id)) a
      cross join lateral (
        select id, starts, row_number() over (order by created_at, batch_id, number) as place from (
          select c.id, c.number, b.id as batch_id, b.created_at, b.state = 'queued' as starts
          from batches b cross join lateral (
            select id, number from chunks
            where batch_id = b.id and state = 'pending' and ${mayRun(sql)}
            order by number limit case when b.state = 'queued' or ${runsInOrder(sql)} then 1 else ${room} end) c
          where b.claimable_account = a.account_id
          order by b.created_at, b.id, c.number
          limit greatest(0, least(${perAccount} - a.in_flight, ${room}))) c) c
      limit (select chunks * chunks from room)),
    chosen as (
      select id, starts, row_number() over (order by place, account_id <= ${after}, account_id) as turn
      from candidates order by turn limit ${room}),
    free as materialized (
      select locked.id, starts, turn from chosen cross join lateral (${freeChunk(sql, sql`chosen.id`, 'pending')}) locked),
    dispatched as (
      -- In the order of their turns, of which the last one is where the next choice goes on.
      update chunks set state = 'dispatched',
        dispatched_at = clock_timestamp() + make_interval(secs => free.turn * 1e-6),
        part_rows_max = case
          when b.match = 'likely' and b.state <> 'cancelling' and chunks.rows > ${LIKELY_PART_ROWS}
            then least(part_rows_max, ${LIKELY_PART_ROWS})
          when (starts or waits) and chunks.rows > ${SHORT_PART_ROWS} then least(part_rows_max, ${SHORT_PART_ROWS})
          else part_rows_max end
      from free, crowd, batches b
      where chunks.id = free.id and b.id = chunks.batch_id
      returning chunks.id as chunk_id, chunks.epoch, chunks.batch_id, chunks.number, chunks.failures, free.turn)
    select chunk_id, epoch, batch_id, number, failures from dispatched order by turn`;
}

/** Dispatched chunks that no worker has claimed for `seconds`; also those dispatched before the clock was set back by more. */
export async function listUnclaimed(sql: Sql, seconds: number): Promise<DispatchedChunk[]> {
  return sql<DispatchedChunk[]>`
    select id as chunk_id, epoch, batch_id, number, failures from chunks
    where state = 'dispatched'
      and dispatched_at not between clock_timestamp() - make_interval(secs => ${seconds})
        and clock_timestamp() + make_interval(secs => ${seconds})`;
}

/** Makes dispatched chunks pending again, unless they were claimed since. */
export async function takeBack(sql: Sql, chunks: readonly ChunkWakeUp[]): Promise<void> {
  await sql`
    update chunks set state = 'pending', epoch = chunks.epoch + 1, dispatched_at = null
    from unnest(${chunks.map(({ chunkId }) => chunkId)}::bigint[], ${chunks.map(({ epoch }) => epoch)}::int[])
        as lost (id, epoch)
      cross join lateral (${freeChunk(sql, sql`lost.id`, 'dispatched')}) free
    where chunks.id = free.id and chunks.epoch = lost.epoch`;
}

/**
 * Query of `id`: the chunk, locked, if it has this state and no other transaction has locked it. A cancellation locks all chunks
 * of its list in another order than a choice among lists does: each could wait for the other.
 */
function freeChunk(sql: Sql, id: ReturnType<Sql>, state: 'pending' | 'dispatched') {
  return sql`
    select c.id from chunks c where c.id = ${id} and c.state = ${state} limit 1 for update skip locked`;
}
