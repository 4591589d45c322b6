/**
 * Statements by which people control a batch. Each is one state transition; locks are taken in the order batch
 * -> chunk -> reservation -> wallet -> budget of a key.
 */

import type { Owner, OwnerWithKey } from '../../core/accounts/owner.ts';
import { tighterKey } from '../../core/credits/key-budgets.sql.ts';
import { voidReservations } from '../../core/credits/reservations.sql.ts';
import type { Sql } from '../../core/db/client.ts';
import { unkept } from '../../core/db/unkept.ts';
import type { Batch, ListBatch, ListOptions, Quote } from './batch.ts';
import { batchColumns, jobDone } from './batches.sql.ts';
import type { NewList } from './insert-batch.sql.ts';
import { cancellableStates, cappableStates, statesBefore } from './states.ts';

/**
 * Starts a held batch. It counts towards the starting key from now on if that may spend less in a day than the key that
 * made it: nothing is reserved yet. It spends `creditsMax` at most. False when it is not `ready`.
 */
export async function startBatch(
  sql: Sql,
  owner: OwnerWithKey,
  id: string,
  creditsMax: number | null,
): Promise<boolean> {
  const moved = await sql`
    update batches set state = 'queued', quote = ${doneQuote(sql)},
      max_credits = least(max_credits, ${creditsMax}::bigint),
      key_id = ${tighterKey(sql, owner.keyId, sql`batches.key_id`)}
    where id = ${id} and account_id = ${owner.accountId} and live = ${owner.live}
      and state = 'ready' returning id`;
  return moved.length > 0;
}

/** Returns true when the key may spend less in a day than the key that the batch counts towards. */
export async function spendsLess(sql: Sql, keyId: string, id: string): Promise<boolean> {
  const [batch] = await sql<{ isTighter: boolean }[]>`
    select ${tighterKey(sql, keyId, sql`b.key_id`)} <> b.key_id as is_tighter
    from batches b where b.id = ${id}`;
  return batch?.isTighter ?? false;
}

/**
 * Pauses a batch until its owner resumes it; one that waits for credits no longer resumes automatically. Parts
 * in flight still finish. False when there is nothing to pause.
 */
export async function pauseBatch(sql: Sql, owner: Owner, id: string): Promise<boolean> {
  const moved = await sql`
    update batches set state = 'paused', reason = 'user'
    where id = ${id} and account_id = ${owner.accountId} and live = ${owner.live}
      and (state = any(${statesBefore('paused')}) or state = 'paused') returning id`;
  return moved.length > 0;
}

/**
 * Resumes a paused batch. Chunks whose wake-ups came while it was paused wait again, under a new epoch. False
 * when it is not paused, and for a list at its `max_credits`, which `setMaxCredits` resumes.
 */
export async function resumeBatch(sql: Sql, owner: Owner, id: string): Promise<boolean> {
  const moved = await sql`
    with batch as (
      update batches set reason = null,
        state = case when started_at is null then 'queued' else 'running' end
      where id = ${id} and account_id = ${owner.accountId} and live = ${owner.live}
        and state = 'paused' and reason <> 'max_credits' returning id),
    ${withdrawWakeUps(sql)}
    select id from batch`;
  return moved.length > 0;
}

/** Locks a list until the transaction ends, and returns what it may spend and its state. */
export async function lockLimit(
  sql: Sql,
  id: string,
): Promise<Pick<ListBatch, 'maxCredits' | 'state'> | undefined> {
  const [list] = await sql<Pick<ListBatch, 'maxCredits' | 'state'>[]>`
    select max_credits, state from batches where id = ${id} for update`;
  return list;
}

/**
 * Sets the `max_credits` of a list, null for none. One that is paused at its limit resumes when the new one pays for a
 * match, which costs `price` credits. A quote stays: no limit changes it. False when the list is in a state without
 * `max_credits` to change, or has charged and reserved more than the new limit.
 */
export async function setMaxCredits(
  sql: Sql,
  owner: Owner,
  id: string,
  { maxCredits, price }: { maxCredits: number | null; price: number },
): Promise<boolean> {
  const limit = sql`${maxCredits}::bigint`;
  const set = await sql`
    with chosen as (
      select id, state = 'paused' and reason = 'max_credits' and (${limit} is null
        or ${limit} - credits_charged - credits_reserved >= ${price}::bigint) as resumes
      from batches
      where id = ${id} and account_id = ${owner.accountId} and live = ${owner.live} and kind = 'list'
        and state = any(${[...cappableStates]})
        and (${limit} is null or ${limit} >= credits_charged + credits_reserved)
      for update),
    changed as (
      update batches b set max_credits = ${limit},
        state = case when resumes then 'running' else b.state end,
        reason = case when resumes then null else b.reason end
      from chosen where b.id = chosen.id
      returning b.id, resumes),
    batch as (select id from changed where resumes),
    ${withdrawWakeUps(sql)}
    select id from changed`;
  return set.length > 0;
}

/** CTE `chunk`: makes dispatched chunks of the CTE `batch (id)` wait again, under a new epoch. */
function withdrawWakeUps(sql: Sql) {
  return sql`
    chunk as (
      update chunks set state = 'pending', epoch = epoch + 1, dispatched_at = null
      from batch where chunks.batch_id = batch.id and chunks.state = 'dispatched')`;
}

/** Drops a pending quote, which is no longer needed. */
function doneQuote(sql: Sql) {
  return sql`case when quote ->> 'state' = 'done' then quote end`;
}

/**
 * Cancels a batch: after the commit nothing more is charged, because every unfinished chunk has a new epoch and
 * every open reservation is void. Rows without an outcome become `not_processed`; a batch that is not yet split
 * ends at once, without rows. False when it has already ended. Call in a transaction.
 */
export async function cancelBatch(sql: Sql, owner: Owner, id: string): Promise<boolean> {
  const moved = await sql`
    update batches set reason = null, quote = ${doneQuote(sql)},
      state = case when chunks_total is null then 'cancelled' else 'cancelling' end,
      finished_at = case when chunks_total is null then now() end
    where id = ${id} and account_id = ${owner.accountId} and live = ${owner.live}
      and state = any(${cancellableStates}) returning id`;
  if (moved.length === 0) return false;
  await withdrawChunks(sql, id);
  return true;
}

/**
 * Cancels a batch held or paused for `keepDays`, as `cancelBatch` does, with the reason `expired`. False when
 * it is in another state or has not waited that long. Call in a transaction.
 */
export async function expireBatch(sql: Sql, id: string, keepDays: number): Promise<boolean> {
  const moved = await sql`
    update batches set reason = 'expired', state = 'cancelling', quote = ${doneQuote(sql)}
    where id = ${id} and ${waitsSince(sql, keepDays)} returning id`;
  if (moved.length === 0) return false;
  await withdrawChunks(sql, id);
  return true;
}

/** Up to 100 batches that `expireBatch` cancels. */
export async function listAbandoned(sql: Sql, keepDays: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from batches where ${waitsSince(sql, keepDays)} order by state_since, id limit 100`;
  return rows.map((row) => row.id);
}

function waitsSince(sql: Sql, keepDays: number) {
  return sql`state in ('ready', 'paused')
    and state_since < now() - make_interval(days => ${keepDays})`;
}

/**
 * Ends a batch with an error. What was paid stays paid and its parts can be read; rows without an outcome are
 * `not_processed`; every unfinished chunk gets a new epoch and every open reservation is voided. False when it
 * has ended or is being cancelled. Call in a transaction.
 */
export async function failBatch(
  sql: Sql,
  id: string,
  problem: Record<string, unknown>,
): Promise<boolean> {
  const found = await sql`
    select from batches where id = ${id} and state = any(${statesBefore('failed')}) for no key update`;
  if (found.length === 0) return false;
  // Before the end, which locks the sum of the account's stored files: it comes after the wallet.
  await withdrawChunks(sql, id);
  await sql`
    update batches set state = 'failed', reason = null, error = ${sql.json(problem as never)},
      finished_at = now(), quote = ${doneQuote(sql)},
      not_processed = not_processed + ${unprocessedRows(sql)}
    where id = ${id}`;
  return true;
}

/**
 * Reclaims every unfinished chunk of a batch whose row is locked: a worker that holds one cannot commit it, and
 * its reservation is void. Call in a transaction.
 */
async function withdrawChunks(sql: Sql, id: string): Promise<void> {
  await sql`
    with chunk as (
      update chunks set state = 'pending', epoch = epoch + 1, lease_until = null,
        dispatched_at = null, run_after = null, part_rows_max = null
      where batch_id = ${id} and state <> 'done' returning id),
    payer as (select id as batch_id, key_id from batches where id = ${id}),
    ${voidReservations(sql)}
    update batches set credits_reserved = credits_reserved
      - coalesce((select sum(amount) from voided), 0)::bigint
    where id = ${id}`;
}

/** Rows of a batch without an outcome; 0 before the split. */
function unprocessedRows(sql: Sql) {
  return sql`
    coalesce(rows_total - matched - no_match - ambiguous - invalid - suppressed - duplicate - error_rows
      - not_processed, 0)`;
}

/**
 * Ends a batch that is being cancelled without writing files: rows without an outcome are only counted as
 * `not_processed`. Call in a transaction.
 */
export async function endWithoutFiles(sql: Sql, id: string): Promise<void> {
  await sql`
    update batches set state = 'cancelled', finished_at = now(),
      not_processed = not_processed + ${unprocessedRows(sql)}
    where id = ${id} and state = 'cancelling'`;
}

export async function setName(sql: Sql, owner: Owner, id: string, name: string): Promise<void> {
  await sql`
    update batches set name = ${name}
    where id = ${id} and account_id = ${owner.accountId} and live = ${owner.live}`;
}

/** The options that can be changed while a batch is held. */
export type BatchChange = Partial<ListOptions & Pick<ListBatch, 'name' | 'mapping'>> & {
  /** Of the dialect, which stays otherwise. */
  doubts?: ListBatch['dialect']['doubts'];
};

/** The stored text of a list, and how it is read. */
export type RereadUpload = Pick<
  NewList,
  | 'mapping'
  | 'dialect'
  | 'uploadKey'
  | 'uploadBytes'
  | 'uploadCrc32'
  | 'uploadHeadCrc32'
  | 'storedBytes'
>;

/** Options that change no outcome, so that a quote stays. */
const unpriced: ReadonlySet<string> = new Set<keyof BatchChange>(['name', 'fields', 'maxCredits']);

/**
 * Changes a batch that is `ready`, and discards its quote if the change may alter it. A batch that is read again is
 * `validating` without chunks, as after its upload, and is split again. Returns false when it is in another state, or was read
 * again since. Call in a transaction.
 */
export async function changeBatch(
  sql: Sql,
  owner: Owner,
  batch: Pick<ListBatch, 'id' | 'uploadKey' | 'canonicalKey' | 'dialect'>,
  change: BatchChange & Partial<RereadUpload>,
): Promise<boolean> {
  const { id, uploadKey, canonicalKey, dialect: before } = batch;
  const { doubts, ...changed } = change;
  const { mapping, dialect } = changed;
  const doubted = sql`jsonb_set(dialect, '{doubts}', ${sql.json((doubts ?? []) as never)})`;
  const row = {
    ...changed,
    ...(doubts ? { dialect: doubted } : {}),
    ...(mapping ? { mapping: sql.json(mapping as never) } : {}),
    ...(dialect ? { dialect: sql.json(dialect as never), ...unsplit } : {}),
    quote: Object.keys(change).every((name) => unpriced.has(name)) ? sql`quote` : null,
  };
  const moved = await unkept(sql`
    update batches set ${sql(row as never)}
    where id = ${id} and account_id = ${owner.accountId} and live = ${owner.live}
      and state = 'ready' and upload_key = ${uploadKey}
      and canonical_key is not distinct from ${canonicalKey}
      and dialect - 'doubts' = ${sql.json(before as never)}::jsonb - 'doubts' returning id`);
  if (moved.length > 0 && dialect) await sql`delete from chunks where batch_id = ${id}`;
  return moved.length > 0;
}

/** The values that the split of a list sets. */
const unsplit = {
  state: 'validating',
  canonicalKey: null,
  canonicalBytes: null,
  canonicalCrc32: null,
  width: null,
  chunksTotal: null,
  rowsTotal: null,
  blankLines: null,
  notAsXlsx: null,
  storedBytesOpen: 0,
  jobAttempts: 0,
  jobAfter: null,
};

/** Serializes quote requests of the account. Call before locking a batch. */
export async function lockQuotesOf(sql: Sql, accountId: string): Promise<void> {
  await sql`select from accounts where id = ${accountId} for no key update`;
}

/** Pending quotes of the account, except for this batch's. */
export async function countOpenQuotes(sql: Sql, accountId: string, but: string): Promise<number> {
  const [row] = await sql<{ quotes: number }[]>`
    select count(*) as quotes from batches
    where account_id = ${accountId} and state = 'ready' and quote ->> 'state' = 'running'
      and id <> ${but}`;
  return row?.quotes ?? 0;
}

/** Records a pending quote. False when the batch is not `ready`. */
export async function askQuote(sql: Sql, owner: Owner, id: string): Promise<boolean> {
  const asked = await sql`
    update batches set job_attempts = 0, job_after = null,
      quote = jsonb_build_object('state', 'running', 'asked_at',
        to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    where id = ${id} and account_id = ${owner.accountId} and live = ${owner.live}
      and state = 'ready' returning id`;
  return asked.length > 0;
}

/** Stores a requested quote. False when the batch was changed, started or requested again since. */
export async function setQuote(sql: Sql, id: string, quote: Quote): Promise<boolean> {
  const stored = await sql`
    update batches set quote = ${sql.json(quote as never)}, ${jobDone(sql)}
    where id = ${id} and state = 'ready' and quote ->> 'state' = 'running'
      and quote ->> 'asked_at' = ${quote.asked_at} returning id`;
  return stored.length > 0;
}

/** Drops a quote that cannot be computed. */
export async function dropQuote(sql: Sql, id: string): Promise<void> {
  await sql`
    update batches set quote = null, ${jobDone(sql)}
    where id = ${id} and state = 'ready' and quote ->> 'state' = 'running'`;
}

/** The batches of this key that can still be cancelled, oldest first. */
export async function listOpenBatchesOfKey(sql: Sql, keyId: string): Promise<Batch[]> {
  return sql<Batch[]>`
    select ${batchColumns(sql)} from batches
    where key_id = ${keyId} and state = any(${cancellableStates})
    order by created_at, id`;
}
