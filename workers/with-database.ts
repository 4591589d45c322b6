/** The database of a command: that of the service, else one that runs for as long as the command works. */
import { startEmbeddedPostgres } from '../infra/embedded/embedded-postgres.ts';
import { hasDatabase } from '../infra/embedded/postgres-cluster.ts';
import { closeDataFolder } from '../infra/embedded/private-folder.ts';
import { endRestore } from '../infra/embedded/restored-folder.ts';
import type { Config } from '../src/core/config.ts';
import { connect, type Database } from '../src/core/db/client.ts';
import { assertClocksAgree } from '../src/core/db/clock.ts';
import { assertServiceDatabase } from '../src/core/db/migrate.ts';
import { isOfFullDisk } from '../src/core/db/pg-errors.ts';
import { AppError, unavailable } from '../src/core/lib/errors.ts';
import { findRunningUp, noteDatabase } from './find-service.ts';
import type { CommandConfig } from './global-options.ts';
import { migrateAll, migrateIfBehind } from './migrate-all.ts';

/**
 * Runs `work` on the database of the configuration: DATABASE_URL, else that of a running `up`, else the embedded one,
 * started for as long as the work takes. The schema is brought up to date first. Only `up`, `demo`, `migrate` and `restore`
 * begin a service: a command for a folder or a database without one has the wrong name of it. Throws `AppError` 404 for a
 * folder that never had a database, `database_gone` for one that lost it, `schema_older` or `foreign_database` for a database
 * in which no service was set up, and `clock_wrong` when its clock and that of this machine differ by more than an hour.
 */
export async function withDatabase<T>(
  config: Config,
  work: (sql: Database, url: string) => Promise<T>,
): Promise<T> {
  return atDatabase(config, 'existing', async (url) => {
    if (config.databaseUrl !== undefined) await onDatabase(url, config, assertServiceDatabase);
    await migrateIfBehind(url);
    return onDatabase(url, config, async (sql) => {
      // What a command imports, deletes or lets end has the time of its machine.
      await assertClocksAgree(sql);
      return work(sql, url);
    });
  });
}

/**
 * As `withDatabase`, for a restore: the database, and the folder of the embedded server, are new, and start again only when
 * the restore is done.
 */
export async function withNewDatabase<T>(
  config: Config,
  work: (sql: Database, url: string) => Promise<T>,
): Promise<T> {
  // Loaded only here: other commands start earlier without it.
  const { beginRestore } = await import('../src/jobs/backup/restore-backup.ts');
  const fill = async (url: string) => {
    await onDatabase(url, config, beginRestore);
    await migrateIfBehind(url, { restores: true });
    return onDatabase(url, config, (sql) => work(sql, url));
  };
  if (config.databaseUrl !== undefined) return atDatabase(config, 'any', fill);
  const done = await onEmbedded(config, true, fill);
  await endRestore(config.dataDir);
  return done;
}

/** Brings everything in the database of the configuration up to date. Returns what was applied to its schema. */
export async function migrateDatabase(config: Config): Promise<string[]> {
  return atDatabase(config, 'any', migrateAll);
}

/** Runs `work` on the database as it is, also on an empty one that DATABASE_URL names. */
export async function withUnchangedDatabase<T>(
  config: Config,
  work: (sql: Database) => Promise<T>,
): Promise<T> {
  return atDatabase(config, 'existing', (url) => onDatabase(url, config, work));
}

/** `existing`: a data folder without a database is refused, and left as it is. */
async function atDatabase<T>(
  config: CommandConfig,
  needs: 'existing' | 'any',
  work: (url: string) => Promise<T>,
): Promise<T> {
  await noteDatabase(config);
  const up = config.databaseUrl === undefined ? await findRunningUp(config) : null;
  const url = config.databaseUrl ?? up?.database_url;
  if (url !== undefined) {
    await closeDataFolder(config.dataDir);
    return await work(url);
  }
  if (needs === 'existing' && !(await hasDatabase(config.dataDir))) throw noDatabase(config);
  return onEmbedded(config, false, work);
}

function noDatabase({ dataDir }: CommandConfig): AppError {
  const message = `The data folder ${dataDir} has no database. Name the folder of the service with --data-dir, or set DATABASE_URL.`;
  return new AppError({ code: 'not_found', status: 404, message });
}

async function onEmbedded<T>(
  { dataDir }: Config,
  restores: boolean,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const refuse = async (error: unknown): Promise<never> => {
    throw (await isOfFullDisk(error, dataDir)) ? diskFull(dataDir, error) : error;
  };
  await using postgres = await startEmbeddedPostgres({ dataDir, restores }).catch(refuse);
  await closeDataFolder(dataDir);
  return await work(postgres.url).catch(refuse);
}

function diskFull(dataDir: string, cause: unknown): AppError {
  const message = `The disk of the data folder ${dataDir} is full, and the command was not finished. Free some space, and repeat it. What a restore began takes space too: delete its new folder first.`;
  return unavailable('disk_full', message, { cause });
}

async function onDatabase<T>(
  url: string,
  config: Config,
  work: (sql: Database) => Promise<T>,
): Promise<T> {
  const sql = connect({ url, connections: config.databaseConnections });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
