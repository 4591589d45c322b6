import { type Reserved, reserveCredits } from '../../core/credits/reservations.sql.ts';
import { joinSpendable, shortage } from '../../core/credits/spendable.sql.ts';
import type { Sql } from '../../core/db/client.ts';
import { wordList } from '../../core/db/word-list.ts';
import { payableStates } from '../batch/states.ts';

/** The reservation that a chunk requests. */
export interface ReserveInput {
  batchId: string;
  chunkId: number;
  epoch: number;
  /** Matches found, and the credits that each costs. */
  matches: number;
  price: number;
}

/**
 * Reserves the price of as many of a chunk's matches as `max_credits`, the wallet and the key's budget of
 * the day can pay, in one statement. Locks the batch, the chunk, the wallet and the budget, in this order.
 * Returns undefined when the chunk is no longer the caller's (its epoch moved) or the batch no longer runs.
 */
export async function reserveForChunk(
  sql: Sql,
  input: ReserveInput,
): Promise<Reserved | undefined> {
  const { batchId, chunkId, epoch } = input;
  const [reserved] = await sql<Reserved[]>`
    with payer as (
      select b.account_id, b.key_id, b.id as batch_id, c.id as chunk_id, c.epoch,
        b.max_credits - b.credits_charged - b.credits_reserved as headroom
      from batches b join chunks c on c.batch_id = b.id
      where b.id = ${batchId} and b.state in ${wordList(sql, payableStates)}
        and c.id = ${chunkId} and c.epoch = ${epoch} and c.state = 'leased'
      -- The chunk too: after waiting for the batch, the statement must see the current epoch, not the
      -- snapshot's.
      for update of b, c),
    ${reserveCredits(sql, input)},
    counted as (
      update batches b set credits_reserved = b.credits_reserved + r.amount
      from reserved r where b.id = ${batchId} and r.granted > 0)
    select granted, reservation_id, limited_by from reserved`;
  return reserved;
}

/**
 * The shortage that prevents a batch from paying for a match, or null. Counts only until its first payment, because a
 * list that spent the last credit still ends with its misses.
 */
export async function findShortage(
  sql: Sql,
  { batchId, price }: { batchId: string; price: number },
): Promise<Reserved['limitedBy']> {
  const [row] = await sql<Pick<Reserved, 'limitedBy'>[]>`
    select case
        when b.credits_charged + b.credits_reserved > 0 then null
        when b.max_credits < ${price}::bigint then 'max_credits'
        else ${shortage(sql, sql`${price}::bigint`)} end as limited_by
    from batches b join api_keys k on k.id = b.key_id ${joinSpendable(sql)}
    where b.id = ${batchId}`;
  return row?.limitedBy ?? null;
}

/** Locks a batch until the transaction ends, and returns the credits that its chunks have reserved. */
export async function lockReserved(tx: Sql, batchId: string): Promise<number> {
  const [batch] = await tx<{ creditsReserved: number }[]>`
    select credits_reserved from batches where id = ${batchId} for update`;
  return batch?.creditsReserved ?? 0;
}
