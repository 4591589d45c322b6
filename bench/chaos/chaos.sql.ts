/** The bench's own statements, independent of those of the service. */
import type { Database } from '../../src/core/db/client.ts';
import { must } from '../../src/core/lib/assert.ts';

export async function dropQueueSchema(sql: Database): Promise<void> {
  await sql`drop schema if exists bullmq cascade`;
}

/** Chunks that a worker currently holds. */
export async function listLeasedChunks(sql: Database): Promise<{ id: number; epoch: number }[]> {
  return sql<{ id: number; epoch: number }[]>`
    select id, epoch from chunks where state = 'leased' order by id`;
}

/** Number of these chunks that were claimed again or finished since they had these epochs. */
export async function countClaimedAgain(
  sql: Database,
  chunks: { id: number; epoch: number }[],
): Promise<number> {
  const [row] = await sql<{ again: number }[]>`
    select count(*)::int as again from chunks c
    join unnest(${chunks.map(({ id }) => id)}::bigint[], ${chunks.map(({ epoch }) => epoch)}::int[])
      held (id, epoch) on held.id = c.id
    where c.state = 'done' or c.epoch > held.epoch + 1
      or (c.epoch > held.epoch and c.state = 'leased')`;
  return row?.again ?? 0;
}

/** Email addresses of the graph, plus unusable ones. */
export async function listEmails(sql: Database, limit: number): Promise<string[]> {
  const rows = await sql<{ value: string }[]>`
    select value from person_identifiers where value like '%@%' order by value limit ${limit}`;
  return rows.map(({ value }) => value);
}

export interface WalletRow {
  accountId: string;
  balance: number;
  reserved: number;
}

export async function listWallets(sql: Database): Promise<WalletRow[]> {
  return sql<WalletRow[]>`select account_id, balance, reserved from wallets`;
}

export interface BatchRow {
  id: string;
  accountId: string;
  state: string;
  creditsCharged: number;
}

export async function listBatchRows(sql: Database): Promise<BatchRow[]> {
  return sql<BatchRow[]>`select id, account_id, state, credits_charged from batches`;
}

export interface PartRow {
  /** Its number. */
  chunk: number;
  /** In the list, from 1. */
  firstRow: number;
  rows: number;
}

/** The parts of a batch in order. */
export async function listPartRows(sql: Database, batchId: string): Promise<PartRow[]> {
  return sql<PartRow[]>`
    select c.number as chunk, p.rows, c.first_row + coalesce(sum(p.rows) over (
        partition by c.number order by p.number
        rows between unbounded preceding and 1 preceding), 0)::int as first_row
    from parts p join chunks c on c.batch_id = p.batch_id and c.number = p.chunk_number
    where p.batch_id = ${batchId} order by c.number, p.number`;
}

/** The upload of a list, and the objects of its result in order. */
export async function readObjectKeys(
  sql: Database,
  batchId: string,
): Promise<{ upload: string; parts: string[] }> {
  const [keys] = await sql<{ upload: string; parts: string[] }[]>`
    select upload_key as upload, array(
      select object_key from parts where batch_id = ${batchId} order by chunk_number, number) as parts
    from batches where id = ${batchId}`;
  return must(keys, 'the list');
}

export interface LedgerLine {
  id: number;
  accountId: string;
  reference: string;
  kind: string;
  amount: number;
}

export async function listLedger(sql: Database): Promise<LedgerLine[]> {
  return sql<LedgerLine[]>`
    select id, account_id, reference, kind, amount from ledger_entries order by id`;
}

/** Rules with the number of rows that violate each; one snapshot when called in a transaction. */
export async function countBrokenRules(
  sql: Database,
  prices: readonly { operation: string; price: number }[],
): Promise<{ name: string; violations: number }[]> {
  return sql<{ name: string; violations: number }[]>`
    with price as (
      select * from unnest(
        ${prices.map((p) => p.operation)}::text[], ${prices.map((p) => p.price)}::bigint[]
      ) p (operation, price)),
    charge as (select * from ledger_entries where kind = 'charge')
    select 'I1 ledger and balance' as name, count(*)::int as violations from wallets w
      where balance <> (
        select coalesce(sum(amount), 0) from ledger_entries l where l.account_id = w.account_id)
    union all select 'I2 wallet bounds', count(*)::int from wallets
      where balance < 0 or reserved < 0 or reserved > balance
    union all select 'I3 wallet and open reservations', count(*)::int from wallets w
      where reserved <> (
        select coalesce(sum(amount), 0) from reservations r
        where r.account_id = w.account_id and r.state = 'open')
    union all select 'I4 a settled reservation is a charge of its batch', count(*)::int
      from batches b
      where (select coalesce(sum(amount), 0) from reservations r
          where r.batch_id = b.id and r.state = 'settled')
        <> (select coalesce(-sum(amount), 0) from charge c where c.batch_id = b.id)
    union all select 'I4 a chunk holds one open reservation', count(*)::int from (
      select from reservations where state = 'open' group by chunk_id having count(*) > 1) d
    union all select 'I5 a part is charged once', count(*)::int from (
      select from charge where batch_id is not null
      group by account_id, split_part(reference, '#', 1) having count(*) > 1) d
    union all select 'I5 a reference is used once', count(*)::int from (
      select from ledger_entries group by account_id, reference having count(*) > 1) d
    union all select 'I6 a batch is charged for its matches', count(*)::int from batches b
      where matched - owned <> (
        select coalesce(sum(units), 0) from charge c where c.batch_id = b.id)
    union all select 'I7 an ended batch holds nothing', count(*)::int
      from reservations r join batches b on b.id = r.batch_id
      where r.state = 'open' and b.finished_at is not null
    union all select 'I8 a charge is the price of its matches', count(*)::int
      from charge c join price using (operation) where -c.amount <> c.units * price.price
    union all select 'I8 nothing is charged beyond max_credits', count(*)::int from batches
      where credits_charged + credits_reserved > max_credits
    union all select 'I8 max_credits are used up before a list pauses for them', count(*)::int
      from batches b join price using (operation)
      where b.state = 'paused' and b.reason = 'max_credits'
        and b.max_credits - b.credits_charged - b.credits_reserved >= price.price
    union all select 'a fencing token is given once', count(*)::int from (
      select from reservations group by chunk_id, epoch having count(*) > 1) d
    union all select 'parts of a chunk are its rows, in order', count(*)::int from (
      select from chunks c left join parts p on p.batch_id = c.batch_id and p.chunk_number = c.number
      group by c.id having c.rows_done <> coalesce(sum(p.rows), 0)
        or c.parts <> count(p.number) or c.parts <> coalesce(max(p.number) + 1, 0)) d
    union all select 'an ended batch has done all chunks', count(*)::int from batches b
      where state in ('completed', 'cancelled')
        and exists (select from chunks c where c.batch_id = b.id and c.state <> 'done')`;
}

/** Writes that constraints and triggers refuse. */
export const forbiddenWrites = {
  'reserve more than there is': (sql: Database) => sql`update wallets set reserved = balance + 1`,
  'spend what is reserved': (sql: Database) => sql`update wallets set balance = reserved - 1`,
  'use a reference twice': (sql: Database) => sql`
    insert into ledger_entries (account_id, reference, kind, amount)
    select account_id, reference, kind, amount from ledger_entries limit 1`,
  'change the ledger': (sql: Database) => sql`update ledger_entries set amount = amount + 1`,
  'forget the ledger': (sql: Database) => sql`delete from ledger_entries`,
  'charge more than max_credits': (sql: Database) => sql`
    update batches set max_credits = 0, credits_charged = 1`,
} satisfies Record<string, (sql: Database) => unknown>;

/** Claims the oldest chunk once more: its fencing token before and after. */
export async function claimAgain(sql: Database): Promise<{ before: number; after: number }> {
  const [token] = await sql<{ before: number; after: number }[]>`
    with old as (select id, epoch from chunks order by id limit 1)
    update chunks set epoch = chunks.epoch + 1 from old where chunks.id = old.id
    returning old.epoch as before, chunks.epoch as after`;
  return token ?? { before: 0, after: 1 };
}

/** Gives an address of one person to another, and notes it as every change of the graph. */
export async function passAddress(sql: Database, address: string, holder: number): Promise<void> {
  await sql`update person_identifiers set person_id = ${holder} where value = ${address}`;
}

/** Returns the single calls that APIs have answered from a local copy, as far as they have reported. */
export async function countCallsFromCopy(sql: Database): Promise<number> {
  const [row] = await sql<{ calls: number }[]>`
    select coalesce(sum((local_copy #>> '{rows,copy}')::bigint), 0)::int as calls
    from processes where kind = 'api'`;
  return must(row, 'one row').calls;
}

/** Defences of the database that can be switched off, to prove that the bench detects it. */
export const mutations = {
  /** Every claim of a chunk gets the previous claim's token. */
  fencing: (sql: Database) =>
    sql`
    create function chaos_keep_epoch() returns trigger language plpgsql as $$
    begin
      new.epoch := old.epoch;
      return new;
    end $$;
    create trigger chaos_keep_epoch before update on chunks
      for each row execute function chaos_keep_epoch()`.simple(),
  /** A duplicate reference is changed instead of refused, so its effect happens again. */
  'unique-reference': (sql: Database) =>
    sql`
    create function chaos_new_reference() returns trigger language plpgsql as $$
    begin
      if exists (select from ledger_entries
          where account_id = new.account_id and reference = new.reference) then
        new.reference := new.reference || '#' || gen_random_uuid();
      end if;
      return new;
    end $$;
    create trigger chaos_new_reference before insert on ledger_entries
      for each row execute function chaos_new_reference()`.simple(),
  /** A list forgets what was decided about its rows, which can be decided and charged again. */
  'decided-once': (sql: Database) =>
    sql`
    create function chaos_forget_decision() returns trigger language plpgsql as $$
    begin
      new.rerun_of := null;
      return new;
    end $$;
    create trigger chaos_forget_decision before update on batches for each row
      when (new.state = 'completed' and new.rerun_records is not null)
      execute function chaos_forget_decision()`.simple(),
  /** A change of who holds an identifier gets no number, so that a local copy passes for current. */
  'change-number': (sql: Database) =>
    sql`drop trigger note_updated on graph.person_identifiers`.simple(),
  'check-constraint': (sql: Database) =>
    sql`
    do $$
    declare one record;
    begin
      for one in select conname from pg_constraint
        where conrelid = 'wallets'::regclass and contype = 'c'
      loop
        execute format('alter table wallets drop constraint %I', one.conname);
      end loop;
    end $$`.simple(),
} satisfies Record<string, (sql: Database) => unknown>;
