/** The statements of a backup: it copies whole tables, whatever is in them. */
import type { Readable, Writable } from 'node:stream';
import type { Sql } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { personIndexKey } from '../result/part-keys.ts';

/** A table with the columns that a copy holds, all but generated ones. */
export interface BackupTable {
  /** With its schema: `public.batches`. */
  name: string;
  columns: string[];
}

/**
 * Returns the tables of the service and of the live graph, each after those that it refers to. Unlogged tables hold
 * nothing that has to be kept; the queue and the graph of test keys are filled again from the others.
 */
export async function listTables(sql: Sql): Promise<BackupTable[]> {
  const tables = await sql<(BackupTable & { refersTo: string[] })[]>`
    select n.nspname || '.' || c.relname as name,
      array(
        select a.attname::text from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        order by a.attnum) as columns,
      array(
        select distinct fn.nspname || '.' || fc.relname from pg_constraint k
        join pg_class fc on fc.oid = k.confrelid join pg_namespace fn on fn.oid = fc.relnamespace
        where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as refers_to
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'graph') and c.relkind = 'r' and c.relpersistence = 'p'
      and (n.nspname, c.relname) <> ('public', 'migrations')
    order by 1`;
  const ordered: BackupTable[] = [];
  const placed = new Set<string>();
  let left = [...tables];
  while (left.length > 0) {
    const ready = left.filter(({ refersTo }) => refersTo.every((name) => placed.has(name)));
    if (ready.length === 0) {
      throw new Error(`tables refer to each other: ${left.map(({ name }) => name).join(', ')}`);
    }
    for (const { name, columns } of ready) {
      placed.add(name);
      ordered.push({ name, columns });
    }
    left = left.filter(({ name }) => !placed.has(name));
  }
  return ordered;
}

/** Returns the size of the database: tables, indexes and what belongs to them. */
export async function readDatabaseBytes(sql: Sql): Promise<number> {
  const [row] = await sql<
    { bytes: number }[]
  >`select pg_database_size(current_database()) as bytes`;
  return must(row, 'size').bytes;
}

/** Returns the rows of a table, as COPY writes them. */
export async function readTable(sql: Sql, { name, columns }: BackupTable): Promise<Readable> {
  return sql.unsafe(`copy ${name} (${quoted(columns)}) to stdout`).readable();
}

/** Returns a stream that writes rows to a table, as `readTable` returned them. */
export async function writeTable(sql: Sql, { name, columns }: BackupTable): Promise<Writable> {
  return sql.unsafe(`copy ${name} (${quoted(columns)}) from stdin`).writable();
}

/** Turns the triggers of a table off or on: their effects are in the copy already. */
export async function setTriggers(sql: Sql, table: BackupTable, enabled: boolean): Promise<void> {
  await sql.unsafe(`alter table ${table.name} ${enabled ? 'enable' : 'disable'} trigger user`);
}

/** Deletes the rows of these tables: what the migrations and the graph of test keys put there. */
export async function emptyTables(sql: Sql, tables: readonly BackupTable[]): Promise<void> {
  await sql.unsafe(`truncate ${tables.map(({ name }) => name).join(', ')}`);
}

function quoted(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(', ');
}

/** Returns the number that each sequence gave out last; those that gave out none are left out. */
export async function readSequences(sql: Sql): Promise<{ name: string; last: number }[]> {
  return sql<{ name: string; last: number }[]>`
    select schemaname || '.' || sequencename as name, last_value as last from pg_sequences
    where schemaname in ('public', 'graph') and last_value is not null order by 1`;
}

/** Returns the names of all sequences of the service and the live graph. */
export async function listSequences(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select schemaname || '.' || sequencename as name from pg_sequences
    where schemaname in ('public', 'graph')`;
  return rows.map(({ name }) => name);
}

/** Lets a sequence go on after a number. */
export async function setSequence(sql: Sql, name: string, last: number): Promise<void> {
  await sql`select setval(${name}::regclass, ${last}::bigint)`;
}

/**
 * Lets every sequence, also an unused one, skip more numbers than are given out between two backups: a hundred million, and a
 * million where the numbers are small (integer). Returns how many sequences did.
 */
export async function skipNumbers(sql: Sql): Promise<number> {
  const { count } = await sql`
    select setval(format('%I.%I', schemaname, sequencename)::regclass,
      least(max_value,
        coalesce(last_value, 0) + case when data_type = 'bigint'::regtype then 100000000 else 1000000 end))
    from pg_sequences where schemaname in ('public', 'graph')`;
  return count;
}

/** Returns the names of the applied migrations with their checksums: the schema that the rows belong to. */
export async function readSchema(sql: Sql): Promise<{ name: string; sha256: string }[]> {
  return sql<{ name: string; sha256: string }[]>`
    select name, sha256 from public.migrations order by name`;
}

/**
 * Makes the transaction one snapshot, which only reads. The first statement of it. Returns its moment by the clock of the
 * database: the snapshot has all that was committed before.
 */
export async function readSnapshot(sql: Sql): Promise<Date> {
  await sql`set transaction isolation level repeatable read read only`;
  // The transaction began before its first query took the snapshot.
  const [row] = await sql<{ moment: Date }[]>`select transaction_timestamp() as moment`;
  return must(row, 'moment of the snapshot').moment;
}

/** Lets the transaction wait as long as it has to: for the file, for the store. */
export async function waitWithoutEnd(sql: Sql): Promise<void> {
  await sql`set local idle_in_transaction_session_timeout = 0`;
  await sql`set local statement_timeout = 0`;
}

/** Takes the lock of a restore until the transaction ends; returns false when another one has it. */
export async function tryRestoreLock(tx: Sql): Promise<boolean> {
  const [row] = await tx<{ taken: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtext('enrich restore')) as taken`;
  return row?.taken ?? false;
}

/** Returns true when the database has the tables that `countHeld` reads. */
export async function hasTables(sql: Sql): Promise<boolean> {
  const [found] = await sql<{ all: boolean }[]>`
    select num_nulls(to_regclass('public.accounts'), to_regclass('graph.persons'),
      to_regclass('graph.companies')) = 0 as all`;
  return found?.all ?? false;
}

/** Returns what a database holds that a restore would mix with: accounts, people and companies. */
export async function countHeld(
  sql: Sql,
): Promise<{ accounts: number; persons: number; companies: number }> {
  const [held] = await sql<{ accounts: number; persons: number; companies: number }[]>`
    select (select count(*) from accounts)::int as accounts,
      (select count(*) from (select from graph.persons limit 1) p)::int as persons,
      (select count(*) from (select from graph.companies limit 1) c)::int as companies`;
  return held ?? { accounts: 0, persons: 0, companies: 0 };
}

/**
 * Returns the keys of all objects that batches with files name. With `of`, only those of some batches: objects without a byte
 * too, because they may have replaced others, but none of batches that ended longer ago than `keepDays`, whose files
 * housekeeping deletes, as far as it can.
 */
export async function listObjectKeys(
  sql: Sql,
  of: { batches: readonly string[]; keepDays: number } | null = null,
): Promise<string[]> {
  const isOfThese =
    of === null
      ? sql`true`
      : sql`batches.id = any(${[...of.batches]}::uuid[])
          and (finished_at is null or finished_at > now() - make_interval(days => ${of.keepDays}))`;
  const hasBytes = of === null ? sql`parts.bytes > 0` : sql`true`;
  const rows = await sql<{ key: string; hasIndex: boolean }[]>`
    select key, has_index from (
      select unnest(array[upload_key, canonical_key, dialect -> 'workbook' ->> 'key']) as key,
        false as has_index
      from batches where files_deleted_at is null and ${isOfThese}
      union
      select object_key, ids_bytes is not null
      from parts join batches on batches.id = parts.batch_id
      where files_deleted_at is null and ${isOfThese} and ${hasBytes}) k
    where key is not null order by key`;
  return rows.flatMap(({ key, hasIndex }) => (hasIndex ? [key, personIndexKey(key)] : [key]));
}
