/** Chooses the chunks to wake next; claims choose in the same way. */
import type { Sql } from '../../core/db/client.ts';
import { wordList } from '../../core/db/word-list.ts';
import { runnableStates } from './states.ts';

/** Advisory lock: one dispatcher at a time counts the chunks in flight. */
const DISPATCH_LOCK = 7_318_224_906;

/** Bounds of account ids: none equals the first, and all precede the second. */
const UUID_MIN = '00000000-0000-0000-0000-000000000000';
const UUID_MAX = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export interface ChunkWakeUp {
  chunkId: number;
  epoch: number;
}

export interface DispatchedChunk extends ChunkWakeUp {
  place: number;
}

/**
 * CTEs `flight` and `busy`: the chunks of runnable batches that are leased or have a pending wake-up, and their
 * number by account. In-flight chunks are few and have their own index; each looks up its batch by id, whatever
 * number the planner estimates.
 */
export function inFlight(sql: Sql) {
  return sql`
    flight as materialized (
      select c.id, c.batch_id, c.number, c.state, c.epoch, b.account_id, b.created_at
      from chunks c cross join lateral (
        select account_id, created_at from batches
        where id = c.batch_id and state in ${wordList(sql, runnableStates)} limit 1) b
      where c.state in ('dispatched', 'leased')),
    busy as materialized (
      select account_id, count(*) filter (where state = 'leased') as leased, count(*) as in_flight
      from flight group by account_id)`;
}

/**
 * CTE `turn`: the accounts with claimable batches, with their chunks in flight: first those after the account
 * `after`, by id, then the others. Each is one index descent, made when its row is requested: a query for the
 * first account reads no other. Rows of `step` 0 are not accounts.
 */
export function accountsInTurn(sql: Sql, after: string | null) {
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
      select turn.account_id, coalesce(f.leased, 0) as leased, coalesce(f.in_flight, 0) as in_flight
      from turn left join lateral (
        select leased, in_flight from busy where account_id = turn.account_id limit 1) f on true
      where step > 0)`;
}

/** The condition that a chunk of the batch `b` may run now. */
export function mayRun(sql: Sql) {
  return sql`
    (run_after is null or run_after <= clock_timestamp())
    -- With dedupe, chunks run one after the other, so that the first row of a record is known.
    and (not b.dedupe or number = (
      select min(number) from chunks where batch_id = b.id and state <> 'done'))`;
}

/**
 * Chooses at most `most` chunks to wake: accounts with the fewest chunks in flight first, of each its oldest
 * batch, in file order, at most `perAccount` in flight per account. Call in a transaction, and enqueue the
 * returned chunks after the commit. Reads at most `most` accounts with runnable chunks.
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
