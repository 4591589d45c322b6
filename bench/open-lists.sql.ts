/**
 * Thousands of open lists of other accounts, made by copying one: uploading them would take longer than
 * measuring.
 */
import type { Sql } from '../src/core/db/client.ts';
import { assert } from '../src/core/lib/assert.ts';

export interface OpenLists {
  /** A split list of one chunk in the state `ready`, whose rows the copies read. */
  like: string;
  lists: number;
  /** New accounts that share the lists evenly, with one key each. */
  accounts: number;
  rowsPerMinute: number;
}

/** Inserts lists that are queued, the oldest of each account first. Returns the ids of the accounts. */
export async function insertOpenLists(
  sql: Sql,
  { like, lists, accounts, rowsPerMinute }: OpenLists,
): Promise<string[]> {
  const made = await sql<{ id: string }[]>`
    with account as (
      insert into accounts (id, name)
      select gen_random_uuid(), 'Open lists' from generate_series(1, ${accounts}::int)
      returning id),
    -- A list of an account without credits is never run.
    wallet as (insert into wallets (account_id, balance) select id, 1000 from account),
    key as (
      insert into api_keys (id, account_id, mode, prefix, key_sha256, scopes, rows_per_minute)
      select gen_random_uuid(), id, 'live', 'open', sha256(id::text::bytea), '{}', ${rowsPerMinute}
      from account returning id, account_id),
    numbered as (select *, row_number() over () - 1 as number from key),
    batch as (
      insert into batches (id, account_id, key_id, live, name, state, operation, mapping, dialect, fields,
        upload_key, upload_bytes, canonical_key, width, chunks_total, rows_total, blank_lines, created_at)
      select gen_random_uuid(), k.account_id, k.id, b.live, b.name, 'queued', b.operation, b.mapping,
        b.dialect, b.fields, b.upload_key, b.upload_bytes, b.canonical_key, b.width, b.chunks_total,
        b.rows_total, b.blank_lines, now() - make_interval(secs => ${lists} - n)
      from generate_series(1, ${lists}::int) n
      join numbered k on k.number = n % ${accounts}, batches b
      where b.id = ${like} and b.state = 'ready' and b.chunks_total = 1
      returning id),
    chunk as (
      insert into chunks (batch_id, number, byte_from, byte_to, first_row, first_line, rows, crc32)
      select batch.id, c.number, c.byte_from, c.byte_to, c.first_row, c.first_line, c.rows, c.crc32
      from batch, chunks c where c.batch_id = ${like} returning 1)
    select id from account where (select count(*) from chunk) = ${lists}`;
  assert(made.length === accounts, 'every list has its chunk');
  return made.map(({ id }) => id);
}

/** Lists of these accounts by state, or `waiting` for their key's rows per minute. */
export async function countOpenLists(
  sql: Sql,
  accounts: readonly string[],
): Promise<Record<string, number>> {
  const rows = await sql<{ state: string; lists: number }[]>`
    select case when claimable_account is null and state in ('queued', 'running') then 'waiting'
      else state end as state, count(*)::int as lists
    from batches where account_id = any(${[...accounts]}::uuid[]) group by 1`;
  return Object.fromEntries(rows.map(({ state, lists }) => [state, lists]));
}

/** Ends the lists of these accounts in any state, and settles the tables. */
export async function endOpenLists(sql: Sql, accounts: readonly string[]): Promise<void> {
  await sql`
    update batches set state = 'failed', reason = null, error = '{}', finished_at = now()
    where account_id = any(${[...accounts]}::uuid[])`;
  await settleBatches(sql);
}

/** The work of autovacuum, so that it does not run during a measurement. */
export async function settleBatches(sql: Sql): Promise<void> {
  await sql`vacuum (analyze) batches, chunks, parts`;
}

/** Queues a held list. Call in a transaction that is rolled back. */
export async function queueBatch(sql: Sql, id: string): Promise<void> {
  await sql`update batches set state = 'queued' where id = ${id}`;
}
