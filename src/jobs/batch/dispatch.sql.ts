/** Chooses the chunks to dispatch next. */
import type { Sql } from '../../core/db/client.ts';
import { wordList } from '../../core/db/word-list.ts';
import { personSearch } from '../../core/operations.ts';
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

export interface ChosenChunk extends DispatchedChunk {
  accountId: string;
  /** Its place among the chunks in flight of its account, from 1. */
  place: number;
}

/**
 * CTE `busy`: the accounts with chunks in flight, and their number: chunks of runnable batches that are leased or
 * have a job, which those of `waiting` only have. They are few and have their own index; each looks up its batch by id, whatever number the planner
 * estimates.
 */
function busyAccounts(sql: Sql) {
  return sql`
    busy as materialized (
      select b.account_id, count(*) as in_flight, count(*) filter (where c.state = 'dispatched') as waiting
      from chunks c cross join lateral (
        select account_id from batches
        where id = c.batch_id and state in ${wordList(sql, runnableStates)} limit 1) b
      where c.state in ('dispatched', 'leased')
      group by b.account_id)`;
}

/**
 * CTE `turn`: the accounts with claimable batches, with their chunks in flight: first those after the account
 * `after`, by id, then the others. Each is one index descent, made when its row is requested: a query for the
 * first account reads no other. Rows of `step` 0 are not accounts.
 */
function accountsInTurn(sql: Sql, after: string | null) {
  return sql`
    turn (account_id, had_its_turn, step) as (
      select coalesce(${after}::uuid, ${UUID_MIN}::uuid), ${after}::uuid is null, 0
      union all
      -- The step that finds no account goes back to the first account, once.
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

/** The condition that a chunk of the batch `b` may run now. */
function mayRun(sql: Sql) {
  return sql`
    (run_after is null or run_after <= clock_timestamp())
    and (${runsInOrder(sql)} is not true or number = (
      select min(number) from chunks where batch_id = b.id and state <> 'done'))`;
}

/**
 * Chooses chunks to dispatch, until `waitingMax` are dispatched and not claimed: accounts with the fewest chunks in flight
 * first, round-robin by id after the account `after`; of each its oldest batch, in file order. At most `perAccount` chunks
 * of an account are in flight. Call in a transaction, and enqueue the returned chunks, in their order, after the commit.
 * Reads at most `waitingMax` squared chunks, and no account after the last of them.
 */
export async function dispatchChunks(
  sql: Sql,
  {
    perAccount,
    waitingMax,
    after,
  }: { perAccount: number; waitingMax: number; after: string | null },
): Promise<ChosenChunk[]> {
  // A crash of the server may forget the choice, as it may forget the jobs: both come again.
  await sql`
    select pg_advisory_xact_lock(${DISPATCH_LOCK}), set_config('synchronous_commit', 'off', true)`;
  const room = sql`(select chunks from room)`;
  return sql<ChosenChunk[]>`
    with recursive ${busyAccounts(sql)}, ${accountsInTurn(sql, after)},
    -- Counted under the lock: dispatchers that each saw the same room would fill the queue several times.
    room as materialized (
      select greatest(0, ${waitingMax} - coalesce(sum(waiting), 0))::int as chunks from busy),
    candidates as (
      select c.id, a.account_id, a.in_flight + c.place as place
      from (
        (select account_id, in_flight from account where in_flight = 0)
        union all
        (select account_id, in_flight from busy
          order by in_flight, account_id <= ${after}::uuid, account_id)) a
      cross join lateral (
        select id, row_number() over (order by created_at, batch_id, number) as place from (
          select c.id, c.number, b.id as batch_id, b.created_at
          from batches b cross join lateral (
            select id, number from chunks
            where batch_id = b.id and state = 'pending' and ${mayRun(sql)}
            order by number limit case when ${runsInOrder(sql)} then 1 else ${room} end) c
          where b.claimable_account = a.account_id
          order by b.created_at, b.id, c.number
          limit greatest(0, least(${perAccount} - a.in_flight, ${room}))) c) c
      limit (select chunks * chunks from room)),
    chosen as (
      select id, account_id, place,
        row_number() over (order by place, account_id <= ${after}::uuid, account_id) as turn
      from candidates order by turn limit ${room}),
    dispatched as (
      update chunks set state = 'dispatched', dispatched_at = clock_timestamp()
      from chosen
      where chunks.id = chosen.id and chunks.state = 'pending'
      returning chunks.id as chunk_id, chunks.epoch, chunks.batch_id, chunks.number, chunks.failures,
        chosen.account_id, chosen.place, chosen.turn)
    select chunk_id, epoch, batch_id, number, failures, account_id, place
    from dispatched order by turn`;
}

/** Dispatched chunks that no worker has claimed for `seconds`. */
export async function listUnclaimed(sql: Sql, seconds: number): Promise<DispatchedChunk[]> {
  return sql<DispatchedChunk[]>`
    select id as chunk_id, epoch, batch_id, number, failures from chunks
    where state = 'dispatched'
      and dispatched_at < clock_timestamp() - make_interval(secs => ${seconds})`;
}

/** Makes dispatched chunks pending again, unless they were claimed since. */
export async function takeBack(sql: Sql, chunks: readonly ChunkWakeUp[]): Promise<void> {
  await sql`
    update chunks set state = 'pending', epoch = chunks.epoch + 1, dispatched_at = null
    from unnest(${chunks.map(({ chunkId }) => chunkId)}::bigint[], ${chunks.map(({ epoch }) => epoch)}::int[])
      as lost (id, epoch)
    where chunks.id = lost.id and chunks.epoch = lost.epoch and chunks.state = 'dispatched'`;
}
