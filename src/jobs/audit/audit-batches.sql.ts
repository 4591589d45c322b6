/** Invariants of batches, chunks and parts, and of their money, as counts of what breaks them. */

import { batchCharges } from '../../core/credits/audit.sql.ts';
import { openReservations } from '../../core/credits/reservations.sql.ts';
import type { Sql } from '../../core/db/client.ts';
import { wordList } from '../../core/db/word-list.ts';
import { finalStates } from '../batch/states.ts';

/** Query of `(batch_id, key_id)`: the key that each batch counts against. */
export function batchPayers(sql: Sql): ReturnType<Sql> {
  return sql`select id as batch_id, key_id from batches`;
}

/** For each invariant the number of rows that break it. */
export async function countBatchViolations(
  sql: Sql,
): Promise<{ name: string; violations: number }[]> {
  return sql<{ name: string; violations: number }[]>`
    with open as (${openReservations(sql)}),
    reserved as (
      select batch_id, sum(amount)::bigint as amount from open group by batch_id),
    charged as (${batchCharges(sql)})
    select 'every batch reserves what its open reservations hold' as name,
      count(*) filter (where b.credits_reserved <> coalesce(r.amount, 0))::int as violations
      from batches b left join reserved r on r.batch_id = b.id
    union all
    select 'every batch charged what its ledger lines say',
      count(*) filter (where b.credits_charged <> coalesce(c.amount, 0))::int
      from batches b left join charged c on c.batch_id = b.id
    union all
    select 'every live batch charged exactly its matched rows but the owned ones, a test batch none',
      count(*) filter (
        where coalesce(c.units, 0) <> case when b.live then b.matched - b.owned else 0 end)::int
      from batches b left join charged c on c.batch_id = b.id
    union all
    select 'no ended batch holds a reservation',
      count(*)::int
      from open r join batches b on b.id = r.batch_id
      where b.state in ${wordList(sql, finalStates)}
    union all
    select 'every open reservation belongs to a chunk under lease, with its epoch',
      count(*)::int
      from open r join chunks c on c.id = r.chunk_id
      where not (c.state = 'leased' and c.epoch = r.epoch)
    union all
    select 'the outcomes of every completed batch add up to its rows',
      count(*) filter (where rows_total <> matched + no_match + ambiguous + invalid + suppressed
        + duplicate + error_rows + not_processed)::int
      from batches where state = 'completed'
    union all
    select 'the parts of every chunk hold the rows that it has done',
      count(*)::int from (
        select c.id from chunks c
        left join parts p on p.batch_id = c.batch_id and p.chunk_number = c.number
        group by c.id having c.rows_done <> coalesce(sum(p.rows), 0) or c.parts <> count(p.number)) d
    union all
    select 'no stored object was damaged or missing when it was last read',
      coalesce(sum(objects_damaged), 0)::int from batches where files_deleted_at is null
    union all
    select 'every account has the sum of its ended batches with files',
      count(*)::int from (
        select account_id from (
          select account_id, stored_bytes as bytes, 1 as batches from batches
          where finished_at is not null and files_deleted_at is null
          union all
          select account_id, -bytes, -batches from stored_sums) s
        group by account_id having sum(bytes) <> 0 or sum(batches) <> 0) d`;
}
