/**
 * Applies the numbered SQL files of `infra/migrations`: `app/` once, `graph/` once for each graph schema. Forward
 * only; each file runs in the transaction that records it, under an advisory lock, so any number of processes may
 * migrate at once. A database with a newer migration than this code is refused, and so is a file that was changed
 * after it was applied: its SHA-256 is stored with its name.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { unavailable } from '../lib/errors.ts';
import { packageRoot } from '../lib/package-root.ts';
import { type Database, inTransaction, type Sql } from './client.ts';

/** Chosen at random once; shared by all processes that migrate. */
const ADVISORY_LOCK_KEY = 7_318_224_905;

interface Migration {
  folder: string;
  schema: string;
  name: string;
  text: string;
  /** Of the text, in hex. */
  sha256: string;
}

/** The SHA-256 of each applied migration's file, by its name. */
type Applied = ReadonlyMap<string, string>;

/**
 * Brings the schema up to date. Returns the names of the applied migrations, oldest first. Throws `AppError`
 * `schema_newer` when the database was migrated by a newer version, and `migration_changed` when a file differs
 * from the one that was applied.
 */
export async function migrate(sql: Database): Promise<string[]> {
  const migrations = await readMigrations();
  return inTransaction(sql, async (tx) => {
    await tx`select pg_advisory_xact_lock(${ADVISORY_LOCK_KEY})`;
    await tx`create table if not exists public.migrations (
      name text primary key, applied_at timestamptz not null default now(), sha256 text not null)`;
    const applied = await readApplied(tx);
    refuseNewer(applied, migrations);
    refuseChanged(applied, migrations);
    const pending = migrations.filter((migration) => !applied.has(nameOf(migration)));
    for (const migration of pending) await apply(tx, migration);
    return pending.map(nameOf);
  });
}

/**
 * Checks the database before a process starts. Throws `AppError` `schema_newer`, `schema_older` or
 * `migration_changed` unless it matches this code.
 */
export async function assertSchemaCurrent(sql: Database): Promise<void> {
  const migrations = await readMigrations();
  const applied = await readApplied(sql);
  refuseNewer(applied, migrations);
  refuseChanged(applied, migrations);
  refuseOlder(applied, migrations);
}

/**
 * Checks the database of a running process. Throws `AppError` `schema_older` when it lacks a migration of this
 * code. A newer schema is accepted: old processes run until they are replaced, because a migration removes nothing
 * that the version before it needs.
 */
export async function assertSchemaUsable(sql: Database): Promise<void> {
  refuseOlder(await readApplied(sql), await readMigrations());
}

async function readApplied(sql: Sql): Promise<Applied> {
  const [found] = await sql<{ table: string | null }[]>`
    select to_regclass('public.migrations')::text as table`;
  if (!found?.table) return new Map();
  const rows = await sql<{ name: string; sha256: string }[]>`
    select name, sha256 from public.migrations`;
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]));
}

function refuseOlder(applied: Applied, migrations: Migration[]): void {
  const missing = migrations.filter((migration) => !applied.has(nameOf(migration)));
  if (missing.length === 0) return;
  throw unavailable(
    'schema_older',
    `The database lacks ${missing.length} migrations. Run \`enrich migrate\` first.`,
  );
}

function refuseNewer(applied: Applied, migrations: Migration[]): void {
  const known = new Set(migrations.map(nameOf));
  const unknown = [...applied.keys()].filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw unavailable(
    'schema_newer',
    `The database holds migrations that this version does not know (${unknown.join(', ')}). Run the newer version.`,
  );
}

function refuseChanged(applied: Applied, migrations: Migration[]): void {
  const isChanged = (migration: Migration) =>
    (applied.get(nameOf(migration)) ?? migration.sha256) !== migration.sha256;
  const changed = migrations.filter(isChanged).map(nameOf);
  if (changed.length === 0) return;
  throw unavailable(
    'migration_changed',
    `The files of these migrations were changed after this database applied them: ${changed.join(', ')}. ` +
      'Restore the files as they were (reinstall this version), and put the change into a new migration.',
  );
}

function nameOf(migration: Migration): string {
  return `${migration.schema}/${migration.name}`;
}

async function apply(tx: Sql, migration: Migration): Promise<void> {
  await tx`create schema if not exists ${tx(migration.schema)}`;
  await tx`select set_config('search_path', ${migration.schema}, true)`;
  await tx.unsafe(migration.text);
  await tx`
    insert into public.migrations (name, sha256) values (${nameOf(migration)}, ${migration.sha256})`;
}

async function readMigrations(): Promise<Migration[]> {
  const app = await readFolder('app', ['public']);
  const graph = await readFolder('graph', ['graph', 'graph_test']);
  return [...app, ...graph];
}

async function readFolder(folder: string, schemas: string[]): Promise<Migration[]> {
  const directory = path.join(packageRoot, 'infra', 'migrations', folder);
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  const migrations: Migration[] = [];
  for (const name of names) {
    const text = await readFile(path.join(directory, name), 'utf8');
    const sha256 = createHash('sha256').update(text).digest('hex');
    for (const schema of schemas) migrations.push({ folder, schema, name, text, sha256 });
  }
  return migrations;
}
