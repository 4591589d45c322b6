/**
 * The life of a claimed chunk (see `claim-chunk.sql.ts`): committed or released. The epoch is the fencing
 * token: a statement with an old epoch changes nothing. Leases run on the database's clock. Locks are taken in
 * the order schedule -> batch -> chunk -> reservation -> wallet -> budget of a key -> sum of stored files.
 */

import { lockedOwnedDays } from '../../core/credits/owned.sql.ts';
import {
  isOpen,
  settleReservation,
  voidReservations,
} from '../../core/credits/reservations.sql.ts';
import type { Sql } from '../../core/db/client.ts';
import { wordList } from '../../core/db/word-list.ts';
import type { OutcomeStatus } from '../../core/enrich/outcomes.ts';
import type { GraphState } from '../../core/graph/graph-state.ts';
import { isInState } from '../../core/graph/in-state.sql.ts';
import { type PricedOperation, subjectOf } from '../../core/operations.ts';
import type { ObjectSum } from '../../core/storage/object-store.ts';
import type { ChunkWakeUp } from '../batch/dispatch.sql.ts';
import { claimEnd, isClaimed, retryPause } from '../batch/lease.sql.ts';
import type { PartReport } from '../batch/report.ts';
import { areJoined, type FirstMatched } from '../batch/reruns.sql.ts';
import type { Shortage } from '../batch/states.ts';
import { payableStates } from '../batch/states.ts';
import { waitForKey, waitForTime } from './chunk-waits.sql.ts';

/**
 * Number of failures from which on a chunk is tried in smaller parts. A lease may be lost for many reasons; a chunk
 * that threw an error will most likely throw it again.
 */
const HALVE_FROM = { lost: 3, threw: 1 } as const;

/** Extends the caller's lease. False when the caller no longer holds it. */
export async function extendLease(sql: Sql, held: ChunkWakeUp): Promise<boolean> {
  const extended = await sql`
    update chunks set lease_until = ${claimEnd(sql)}
    where id = ${held.chunkId} and epoch = ${held.epoch} and state = 'leased' returning id`;
  return extended.length > 0;
}

/** Rows of each outcome in a part. */
export type OutcomeCounts = Record<OutcomeStatus, number>;

export interface CommitPart {
  batchId: string;
  /** The key that pays. */
  keyId: string;
  chunkId: number;
  chunkNumber: number;
  epoch: number;
  /** Part number within its chunk, from 0. */
  number: number;
  objectKey: string;
  rows: number;
  /** Bytes of the longest row. */
  rowBytesMax: number;
  part: ObjectSum;
  /** The person index; null for a part without people. */
  ids: ObjectSum | null;
  counts: OutcomeCounts;
  /** Of the matched rows, those that cost nothing because the account owns the person. */
  owned: number;
  /** True when it was priced for an account that pays for each person once; null where that makes no difference. */
  paysOnce: boolean | null;
  operation: PricedOperation;
  reservationId: number | null;
  /** The shortage that cut the part short and pauses the batch, or null. */
  shortOf: Shortage | null;
  /** Credits of one match. */
  price: number;
  /** With `dedupe`: the records first matched in this part, and their rows. */
  records: { id: number; row: number }[];
  /** The same, when each is charged once; null without `dedupe`, and in test mode. */
  distinct: FirstMatched | null;
  /** The people that the part delivers for a schedule; null without a schedule. */
  delivered: { scheduleId: string; ids: number[] } | null;
  /** Contains no person suppressed up to this number; null for a part without people. */
  suppressionNumber: number | null;
  /** The state of the graph in which a local copy answered for the rows; null when Postgres did. */
  graph: GraphState | null;
  report: PartReport;
}

export interface Committed {
  chunkDone: boolean;
  /** True when the part finished the batch. */
  batchDone: boolean;
}

/** Returns the reference of a part's charge. */
export function referenceOf(part: Pick<CommitPart, 'batchId' | 'chunkNumber' | 'number'>): string {
  return `batch:${part.batchId}:${part.chunkNumber}:${part.number}`;
}

/**
 * Commits a part in one statement: settles its reservation, writes its ledger line, records the object, and
 * advances chunk and batch. Undefined, without any change, when the caller's epoch is old or the batch is
 * neither running nor paused, when a local copy answered in another state than the graph's, when imports have joined records
 * that are `distinct`, and when the `owned_days` of the account were turned on or off since the rows were priced. A batch that
 * is being cancelled accepts only free parts.
 */
export async function commitPart(sql: Sql, part: CommitPart): Promise<Committed | undefined> {
  const { counts } = part;
  const reference = referenceOf(part);
  const [committed] = await sql<Committed[]>`
    with ${lockedSchedule(sql, part)},
    batch as (
      select id, account_id, live, state, reason from batches
      where id = ${part.batchId} and (select count(*) from schedule) >= 0 and (state in ${wordList(sql, payableStates)}
        or (state = 'cancelling' and ${part.reservationId}::bigint is null))
        and ${part.distinct === null ? sql`true` : sql`not ${areJoined(sql, part.distinct)}`}
        and ${isInState(sql, part.graph)} for update),
    ${lockedPrice(sql, part)},
    chunk as (
      update chunks c set
        rows_done = c.rows_done + ${part.rows}, parts = c.parts + 1, failures = 0,
        state = case when c.rows_done + ${part.rows} = c.rows then 'done' else 'pending' end,
        lease_until = null, part_rows_max = least(c.part_rows_max, c.rows) * 2
      from batch
      where c.id = ${part.chunkId} and c.epoch = ${part.epoch} and c.state = 'leased'
        and c.parts = ${part.number} and ${isOpen(sql, part)}
        and ${part.paysOnce === null ? sql`true` : sql`exists (select from price)`}
      returning c.id, c.batch_id, c.state = 'done' as done),
    ${settleReservation(sql, { ...part, reference, units: counts.matched - part.owned })},
    recorded as (
      insert into parts (batch_id, chunk_number, number, object_key, rows, bytes, crc32, ids_bytes, ids_crc32,
        row_bytes_max, live, suppression_number, report)
      select chunk.batch_id, ${part.chunkNumber}, ${part.number}, ${part.objectKey}, ${part.rows},
        ${part.part.bytes}, ${part.part.crc32}, ${part.ids?.bytes ?? null}, ${part.ids?.crc32 ?? null},
        ${part.rowBytesMax}, batch.live, ${part.suppressionNumber}, ${sql.json(part.report as never)}
      from chunk, batch),
    answered as (
      insert into batch_records (batch_id, record_id, row)
      select chunk.batch_id, r.id, r.row from chunk, unnest(
        ${part.records.map((r) => r.id)}::bigint[], ${part.records.map((r) => r.row)}::int[]
      ) r (id, row) cross join batch
      -- Of someone who was erased since the match nothing would delete it. With an offset one opt-out is read for each record,
      -- and not all of them for each part.
      where not (${subjectOf(part.operation) === 'person'} and batch.live
        and exists (select from suppressed_persons s where s.person_id = r.id offset 0))),
    delivered as (
      insert into schedule_deliveries (schedule_id, person_id)
      select schedule.id, p.id
      from chunk, schedule, unnest(${part.delivered?.ids ?? []}::bigint[]) p (id)
      on conflict do nothing)
    update batches b set
      matched = b.matched + ${counts.matched}, no_match = b.no_match + ${counts.no_match},
      ambiguous = b.ambiguous + ${counts.ambiguous}, invalid = b.invalid + ${counts.invalid},
      suppressed = b.suppressed + ${counts.suppressed},
      duplicate = b.duplicate + ${counts.duplicate},
      error_rows = b.error_rows + ${counts.error},
      not_processed = b.not_processed + ${counts.not_processed},
      owned = b.owned + ${part.owned},
      chunks_done = b.chunks_done + chunk.done::int,
      ${pace(sql, part.rows)},
      stored_bytes = b.stored_bytes + ${part.part.bytes + (part.ids?.bytes ?? 0)},
      credits_charged = b.credits_charged + coalesce((select amount from settled), 0),
      credits_reserved = b.credits_reserved - coalesce((select amount from settled), 0),
      state = case
        when b.state = 'cancelling' then b.state
        when b.chunks_done + chunk.done::int = b.chunks_total then 'finalizing'
        when ${isShort(sql, part, sql`0`)} then 'paused'
        else b.state end,
      reason = case
        when b.state = 'cancelling' then b.reason
        when b.chunks_done + chunk.done::int = b.chunks_total then null
        when ${isShort(sql, part, sql`0`)} then coalesce(b.reason, ${part.shortOf})
        else b.reason end
    from batch, chunk
    where b.id = batch.id
    returning chunk.done as chunk_done, b.chunks_done = b.chunks_total as batch_done`;
  return committed;
}

/**
 * CTE `schedule (id)`: the schedule that a part delivers for. A concurrent deletion of it waits for the part, or came first and
 * there is nothing to record. Lock it first: the deletion may take seconds, during which no wallet may be locked.
 */
export function lockedSchedule(sql: Sql, { delivered }: CommitPart): ReturnType<Sql> {
  return sql`
    schedule as (select id from schedules where id = ${delivered?.scheduleId ?? null}::uuid for key share)`;
}

/**
 * CTE `price`: a row if the account still pays as it did when the part was priced: for each person once, or for each row. It
 * is read under the lock of the wallet, which comes after that of the chunk, because an operator may change it while the part
 * waits.
 */
function lockedPrice(sql: Sql, { chunkId, reservationId, paysOnce }: CommitPart): ReturnType<Sql> {
  return sql`
    locked_chunk as (
      select batch.account_id from batch join chunks on chunks.batch_id = batch.id
      where chunks.id = ${chunkId} for update of chunks),
    ${lockedOwnedDays(sql, { payer: sql`locked_chunk`, reservationId })},
    price as (select from locked_wallet where (owned_days > 0) = ${paysOnce}::boolean)`;
}

/** Seconds of running that the pace remembers. */
const PACE_SECONDS = 30;

/**
 * Assignments: the pace of the batch `b` with these rows. Of a longer time than the pace remembers, the oldest rows are
 * forgotten, as if they had come evenly. A time to come, from before the clock was set back, counts as now.
 */
function pace(sql: Sql, rows: number): ReturnType<Sql> {
  const since = sql`least(b.paced_since, clock_timestamp())`;
  return sql`
    paced_rows = ${rows} + b.paced_rows
      * least(1, ${PACE_SECONDS} / greatest(extract(epoch from clock_timestamp() - ${since}), 0.001)),
    paced_since = greatest(${since}, clock_timestamp() - make_interval(secs => ${PACE_SECONDS}))`;
}

interface PossibleShortage {
  shortOf: Shortage | null;
  /** Credits of one match. */
  price: number;
}

/**
 * Condition: the batch `b` is short when it gets the expression `voided` (credits) back. One at its own limit may no
 * longer be: the limit was raised, or the reservation of another chunk was voided. False for no shortage.
 */
function isShort(
  sql: Sql,
  { shortOf, price }: PossibleShortage,
  voided: ReturnType<Sql>,
): ReturnType<Sql> {
  if (shortOf !== 'max_credits') return sql`${shortOf !== null}`;
  return sql`b.max_credits - b.credits_charged - b.credits_reserved + ${voided} < ${price}::bigint`;
}

/** The reason why a claim ends without a part. */
export type Release =
  /** No row could be paid: the batch pauses. `price` is that of one match. */
  | { pauseFor: Shortage; price: number }
  /**
   * The rows are retried after these seconds. A failure of the chunk itself (`chunk`) counts against it and
   * delays only that chunk. When storage or database fail (`batch`), or the key has used up its rows per minute
   * (`key`), the other chunks wait too, as they would fail in the same way.
   */
  | { waits: 'chunk' | 'batch' | 'key'; seconds: number }
  /** The rows are matched again at once: another charge paid for one of their people meanwhile. */
  | { waits: 'nothing' }
  /** The same in a moment: another chunk may pay for one of them, and they may cost nothing then. */
  | { waits: 'price' };

/** Seconds until the rows of a chunk are priced again. */
const PRICE_SECONDS = 1;

/**
 * Ends a claim without a part: voids the reservation and makes the chunk wait under a new epoch. Changes
 * nothing and returns false when the epoch is old. Call in a transaction.
 */
export async function releaseChunk(
  sql: Sql,
  held: ChunkWakeUp & { batchId: string; keyId: string },
  why: Release,
): Promise<boolean> {
  const pauses = 'pauseFor' in why;
  const failsFor = !pauses && why.waits === 'chunk' ? why.seconds : null;
  const waitsFor = !pauses && why.waits === 'price' ? PRICE_SECONDS : failsFor;
  const shortage = pauses ? { shortOf: why.pauseFor, price: why.price } : noShortage;
  await sql`select id from batches where id = ${held.batchId} for update`;
  const released = await sql`
    with chunk as (
      update chunks set state = 'pending', epoch = epoch + 1, lease_until = null,
        ${countFailure(sql, failsFor === null ? null : HALVE_FROM.threw)},
        run_after = ${retryPause.end(sql, waitsFor)}
      where id = ${held.chunkId} and epoch = ${held.epoch} and state = 'leased'
      returning id),
    payer as (select id as batch_id, key_id from batches where id = ${held.batchId}),
    ${voidReservations(sql)}
    update batches b set ${giveBack(sql, sql`coalesce((select sum(amount) from voided), 0)`, shortage)}
    where b.id = ${held.batchId} and exists (select from chunk)
    returning b.id`;
  if (released.length === 0) return false;
  if (pauses) return true;
  const { batchId, keyId } = held;
  if (why.waits === 'batch') await waitForTime(sql, batchId, why.seconds);
  if (why.waits === 'key') await waitForKey(sql, { batchId, keyId, seconds: why.seconds });
  return true;
}

const noShortage: PossibleShortage = { shortOf: null, price: 0 };

/**
 * Assignments to the batch `b` that take the expression `voided` (credits, 0 for none) from what it has reserved. A
 * running batch pauses for the shortage. A list at its `max_credits` resumes when credits return: they were reserved
 * for a match and can pay for one again.
 */
function giveBack(sql: Sql, voided: ReturnType<Sql>, shortage: PossibleShortage): ReturnType<Sql> {
  const pauses = sql`b.state = 'running' and ${isShort(sql, shortage, voided)}`;
  const resumes = sql`b.state = 'paused' and b.reason = 'max_credits' and ${voided} > 0`;
  return sql`
    credits_reserved = b.credits_reserved - ${voided},
    state = case when ${pauses} then 'paused' when ${resumes} then 'running' else b.state end,
    reason = case when ${pauses} then ${shortage.shortOf} when ${resumes} then null else b.reason end`;
}

/**
 * Counts a failure of a chunk, or none for null. From failure number `halveFrom` on, its next part has half the
 * rows of the failed one, down to one row, which isolates a poison row by bisection.
 */
function countFailure(sql: Sql, halveFrom: number | null) {
  if (halveFrom === null) return sql`failures = failures`;
  return sql`
    failures = failures + 1,
    part_rows_max = case when failures + 1 < ${halveFrom} then part_rows_max
      else greatest(1, least(part_rows_max, rows - rows_done) / 2) end`;
}

/** Returns the batches with chunks whose lease has expired. */
export async function listWithExpiredLeases(sql: Sql): Promise<string[]> {
  const expired = await sql<{ batchId: string }[]>`
    select distinct batch_id from chunks
    where state = 'leased' and not ${isClaimed(sql, sql`lease_until`)}`;
  return expired.map((row) => row.batchId);
}

/**
 * Reclaims expired leases of these batches: epoch + 1 and the void of the old reservation in one statement. Returns their number.
 * Call in a transaction.
 */
export async function reclaimChunks(sql: Sql, batchIds: string[]): Promise<number> {
  await sql`select id from batches where id = any(${batchIds}) order by id for update`;
  const reclaimed = await sql`
    with chunk as (
      update chunks set state = 'pending', epoch = epoch + 1, lease_until = null,
        ${countFailure(sql, HALVE_FROM.lost)}
      where batch_id = any(${batchIds}) and state = 'leased' and not ${isClaimed(sql, sql`lease_until`)}
      returning id),
    payer as (select id as batch_id, key_id from batches where id = any(${batchIds})),
    ${voidReservations(sql)},
    batch as (
      update batches b set ${giveBack(sql, sql`v.amount`, noShortage)}
      from (select batch_id, sum(amount)::bigint as amount from voided group by batch_id) v
      where b.id = v.batch_id)
    select id from chunk`;
  return reclaimed.length;
}
