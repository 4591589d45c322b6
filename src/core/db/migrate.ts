/**
 * Applies the numbered SQL files of `infra/migrations`: `app/` once, `graph/` once for each graph schema. Forward
 * only; each file runs in the transaction that records it, under an advisory lock, so any number of processes may
 * migrate at once. A database with a newer migration than this code is refused, unless that says that it runs with this
 * version, and so is a file that was changed after it was applied: its SHA-256 is stored with its name.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { conflict, unavailable } from '../lib/errors.ts';
import { packageRoot, readVersion } from '../lib/package-root.ts';
import type { Database, Sql } from './client.ts';
import { readRunsWith, readSteps, runsOutsideTransaction } from './migration-steps.ts';
import { refuseUnfinishedRestore } from './unfinished-restore.ts';

/** Chosen at random once; shared by all processes that migrate. */
const ADVISORY_LOCK_KEY = 7_318_224_905;

const migrationsFolder = path.join(packageRoot, 'infra', 'migrations');

const LOCK_NOT_AVAILABLE = '55P03';
/** A second is the longest that a migration may make the service wait. */
const LOCK_MS = 1_000;
const LOCK_PAUSE_MS = 2_000;
const LOCK_POLL_MS = 200;
const LOCK_TRIES_MAX = 30;

export interface Migration {
  folder: string;
  schema: string;
  name: string;
  text: string;
  /** Of the text, in hex. */
  sha256: string;
}

interface AppliedMigration {
  /** Of its file. */
  sha256: string;
  /** Oldest version that may start with it; null for the version that has its file. */
  runsWith: string | null;
}

/** By the name of the migration. */
type Applied = ReadonlyMap<string, AppliedMigration>;

/**
 * Brings the schema up to date, one file after the other. Returns the names of the applied migrations, oldest first. Throws
 * `AppError`
 * - `schema_newer` when a newer version has migrated the database,
 * - `migration_changed` when a file differs from the one that was applied,
 * - `restore_unfinished` after a restore that failed, unless this is a restore,
 * - `foreign_database` when the tables of something else are there,
 * - `lock_not_available` when a table stays locked.
 */
export async function migrate(
  sql: Database,
  folder = migrationsFolder,
  { restores = false }: { restores?: boolean } = {},
): Promise<string[]> {
  const migrations = await readMigrations(folder);
  // One connection for all: the lock belongs to its session, and a pool may have only one.
  const session = await sql.reserve();
  try {
    await takeLock(session);
    await refuseForeign(session);
    if (!restores) await refuseUnfinishedRestore(session);
    await session`create table if not exists public.migrations (
      name text primary key, applied_at timestamptz not null default now(), sha256 text not null,
      runs_with text)`;
    const pending = await findPending(session, migrations);
    for (const migration of pending) await applyWhenFree(session, migration);
    return pending.map(nameOf);
  } finally {
    await session`select pg_advisory_unlock(${ADVISORY_LOCK_KEY})`.catch(() => {});
    session.release();
  }
}

/** Returns the migrations that `migrate` would apply, in order, with the text of each. Throws as `migrate`. */
export async function listPending(sql: Sql, folder = migrationsFolder): Promise<Migration[]> {
  await refuseForeign(sql);
  return findPending(sql, await readMigrations(folder));
}

/** Returns what `public.migrations` has after `migrate`, by name: what a backup of this version names as its schema. */
export async function readOwnSchema(): Promise<{ name: string; sha256: string }[]> {
  const migrations = await readMigrations();
  return migrations.map((migration) => ({ name: nameOf(migration), sha256: migration.sha256 }));
}

async function findPending(sql: Sql, migrations: Migration[]): Promise<Migration[]> {
  const applied = await readApplied(sql);
  const pending = migrations.filter((migration) => !applied.has(nameOf(migration)));
  // With migrations of two versions that do not know each other, the schema would be that of neither.
  refuseNewer(applied, migrations, pending.length === 0 ? readVersion() : null);
  refuseChanged(applied, migrations);
  return pending;
}

/**
 * Checks the database before a process starts. Throws `AppError` `restore_unfinished`, `schema_newer`, `schema_older`,
 * `foreign_database` or `migration_changed` unless it matches this code, or newer migrations run with this version.
 */
export async function assertSchemaCurrent(sql: Database): Promise<void> {
  await refuseUnfinishedRestore(sql);
  const migrations = await readMigrations();
  const applied = await readApplied(sql);
  refuseNewer(applied, migrations, readVersion());
  refuseChanged(applied, migrations);
  await refuseOlder(sql, applied, migrations);
}

/**
 * Checks the database of a running process. Throws `AppError` `schema_older` when it lacks a migration of this code, and
 * `foreign_database`. A newer schema is accepted: old processes run until they are replaced, because a migration removes nothing
 * that the version before it needs.
 */
export async function assertSchemaUsable(sql: Database): Promise<void> {
  await refuseOlder(sql, await readApplied(sql), await readMigrations());
}

/**
 * Checks that a service was set up in the database, by any version. Throws `AppError` `schema_older` for an empty one,
 * `restore_unfinished` and `foreign_database`.
 */
export async function assertServiceDatabase(sql: Sql): Promise<void> {
  await refuseUnfinishedRestore(sql);
  if ((await readApplied(sql)).size > 0) return;
  await refuseForeign(sql);
  const [row] = await sql<[{ database: string }]>`select current_database() as database`;
  throw unavailable(
    'schema_older',
    `The database ${row.database} is empty. Correct DATABASE_URL, or run \`enrich migrate\` to set up a new service in it.`,
  );
}

/** Asks again and again: a statement that waits holds a snapshot, which a concurrent build of an index waits for. */
async function takeLock(session: Sql): Promise<void> {
  while (true) {
    const [row] = await session<[{ taken: boolean }]>`
      select pg_try_advisory_lock(${ADVISORY_LOCK_KEY}) as taken`;
    if (row.taken) return;
    await delay(LOCK_POLL_MS);
  }
}

/** Tables of extensions do not count. */
async function refuseForeign(sql: Sql): Promise<void> {
  const foreign = await sql<{ name: string; database: string }[]>`
    select c.relname as name, current_database() as database from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
      and to_regclass('public.migrations') is null
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    order by 1 limit 3`;
  const [first] = foreign;
  if (first === undefined) return;
  const names = foreign.map(({ name }) => name).join(', ');
  throw conflict(
    'foreign_database',
    `The database ${first.database} belongs to something else: it has tables that are not of this service (${names}). ` +
      'Correct DATABASE_URL, or create a database of its own. Nothing was changed.',
  );
}

async function readApplied(sql: Sql): Promise<Applied> {
  const [found] = await sql<{ table: string | null }[]>`
    select to_regclass('public.migrations')::text as table`;
  if (!found?.table) return new Map();
  const rows = await sql<(AppliedMigration & { name: string })[]>`
    select name, sha256, to_jsonb(m) ->> 'runs_with' as runs_with from public.migrations m`;
  return new Map(rows.map(({ name, ...row }) => [name, row]));
}

async function refuseOlder(sql: Sql, applied: Applied, migrations: Migration[]): Promise<void> {
  if (applied.size === 0) await assertServiceDatabase(sql);
  const missing = migrations.filter((migration) => !applied.has(nameOf(migration)));
  if (missing.length === 0) return;
  throw unavailable(
    'schema_older',
    `The database lacks ${missing.length} migrations. Run \`enrich migrate\` first.`,
  );
}

/** With this `version`, migrations that run with it are accepted; with null, none is. */
function refuseNewer(applied: Applied, migrations: Migration[], version: string | null): void {
  const known = new Set(migrations.map(nameOf));
  const unknown = [...applied]
    .filter(([name]) => !known.has(name))
    .filter(([, { runsWith }]) => version === null || !isAtLeast(version, runsWith))
    .map(([name]) => name);
  if (unknown.length === 0) return;
  throw unavailable(
    'schema_newer',
    `The database holds migrations that this version does not know (${unknown.join(', ')}). Run the newer version.`,
  );
}

function refuseChanged(applied: Applied, migrations: Migration[]): void {
  const isChanged = (migration: Migration) =>
    (applied.get(nameOf(migration)) ?? migration).sha256 !== migration.sha256;
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

/** True when the version is the oldest one that the migration runs with, or a later one. */
function isAtLeast(version: string, oldest: string | null): boolean {
  if (oldest === null) return false;
  const options = { numeric: true };
  return version.localeCompare(oldest, 'en', options) >= 0;
}

/**
 * Applies a migration, again when it does not get a lock at once: whoever comes after a waiting lock waits for it too, so
 * that one long read would stop the service.
 */
async function applyWhenFree(session: Sql, migration: Migration): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await apply(session, migration);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (tries === LOCK_TRIES_MAX) {
        const message = `The migration ${nameOf(migration)} did not get its locks within ${LOCK_MS} ms in ${tries} tries: long transactions hold its tables. It was not applied. End them (docs/operations.md, Slow calls), and migrate again.`;
        throw unavailable('lock_not_available', message, { cause: error });
      }
      await delay(LOCK_PAUSE_MS);
    }
  }
}

/** Applies a migration and records it, in one transaction unless its file says otherwise. */
async function apply(session: Sql, migration: Migration): Promise<void> {
  const { schema, text } = migration;
  const isTransaction = !runsOutsideTransaction(text);
  if (isTransaction) await session.unsafe('begin');
  try {
    await session`create schema if not exists ${session(schema)}`;
    await session`select set_config('search_path', ${schema}, false),
      set_config('lock_timeout', ${isTransaction ? `${LOCK_MS}` : '0'}, false)`;
    if (isTransaction) await session.unsafe(text);
    else await runSeparately(session, migration);
    await session`
      insert into public.migrations (name, sha256, runs_with)
      values (${nameOf(migration)}, ${migration.sha256}, ${readRunsWith(text)})`;
    if (isTransaction) await session.unsafe('commit');
  } catch (error) {
    if (isTransaction) await session.unsafe('rollback').catch(() => {});
    throw error;
  } finally {
    await session.unsafe('reset search_path; reset lock_timeout').catch(() => {});
  }
}

/** A concurrent build that failed leaves an invalid index, which `if not exists` would take for the index. */
async function runSeparately(session: Sql, { schema, text }: Migration): Promise<void> {
  for (const { statement } of readSteps(text)) {
    const [, index = ''] = /\bindex concurrently if not exists (\w+)/.exec(statement) ?? [];
    const invalid = await session`
      select from pg_index i join pg_class c on c.oid = i.indexrelid
      where c.relname = ${index} and c.relnamespace = ${schema}::regnamespace and not i.indisvalid`;
    if (invalid.length > 0)
      await session`drop index concurrently ${session(schema)}.${session(index)}`;
    await session.unsafe(statement);
  }
}

async function readMigrations(root = migrationsFolder): Promise<Migration[]> {
  const app = await readFolder(root, 'app', ['public']);
  const graph = await readFolder(root, 'graph', ['graph', 'graph_test']);
  return [...app, ...graph];
}

async function readFolder(root: string, folder: string, schemas: string[]): Promise<Migration[]> {
  const directory = path.join(root, folder);
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  const migrations: Migration[] = [];
  for (const name of names) {
    const text = await readFile(path.join(directory, name), 'utf8');
    const sha256 = createHash('sha256').update(text).digest('hex');
    for (const schema of schemas) migrations.push({ folder, schema, name, text, sha256 });
  }
  return migrations;
}
