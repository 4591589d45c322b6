/** Finds the service for a command: a running `up` of the data folder, else a database of the command's own. */
import { readFile } from 'node:fs/promises';
import { startEmbeddedPostgres } from '../infra/embedded/embedded-postgres.ts';
import { closeDataFolder } from '../infra/embedded/private-folder.ts';
import { readFolderIdentity, readProcessStart } from '../infra/embedded/process-identity.ts';
import type { Config } from '../src/core/config.ts';
import { connect, type Database } from '../src/core/db/client.ts';
import { unavailable } from '../src/core/lib/errors.ts';
import { migrateAll, type UpFile, upFilePath } from './stack.ts';

/** The `up` that runs on this data folder, or null. */
export async function findRunningUp(config: Config): Promise<UpFile | null> {
  let text: string;
  try {
    text = await readFile(upFilePath(config), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const up = JSON.parse(text) as UpFile;
  // What came along with a copy of a folder names the service of the original.
  if (up.folder !== (await readFolderIdentity(config.dataDir))) return null;
  // What a killed `up` left may name a pid that is another program's by now.
  return (await readProcessStart(up.pids.up)) === up.started ? up : null;
}

/**
 * Runs `work` on the database of the configuration: DATABASE_URL, else that of a running `up`, else the
 * embedded one, started for as long as the work takes. The schema is brought up to date first; `applied`
 * is what that took.
 */
export async function withDatabase<T>(
  config: Config,
  work: (sql: Database, url: string, applied: string[]) => Promise<T>,
): Promise<T> {
  const up = config.databaseUrl === undefined ? await findRunningUp(config) : null;
  const url = config.databaseUrl ?? up?.database_url;
  if (url !== undefined) return onDatabase(url, config, work);
  await using postgres = await startEmbeddedPostgres({ dataDir: config.dataDir });
  return await onDatabase(postgres.url, config, work);
}

async function onDatabase<T>(
  url: string,
  config: Config,
  work: (sql: Database, url: string, applied: string[]) => Promise<T>,
): Promise<T> {
  await closeDataFolder(config.dataDir);
  const applied = await migrateAll(url);
  const sql = connect({ url, connections: config.databaseConnections });
  try {
    return await work(sql, url, applied);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** The URL that the client commands call. Throws `AppError` `no_service` when none is configured or running. */
export async function findServiceUrl(config: Config): Promise<string> {
  if (config.apiUrl !== undefined) return config.apiUrl;
  const up = await findRunningUp(config);
  if (up !== null) return up.url;
  throw unavailable(
    'no_service',
    `No service is running on the data folder ${config.dataDir}. Start it with \`npm start\`, or set ENRICH_URL.`,
  );
}
