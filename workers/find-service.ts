/** Finds the service of a configuration: the one that is named, else a running `up` of the data folder. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { readFolderIdentity, readProcessStart } from '../infra/embedded/process-identity.ts';
import { refuseUnfinished } from '../infra/embedded/restored-folder.ts';
import type { Config } from '../src/core/config.ts';
import { readDatabaseUrl } from '../src/core/lib/database-url.ts';
import { type AppError, unavailable } from '../src/core/lib/errors.ts';
import type { CommandConfig } from './global-options.ts';
import { say } from './output.ts';

/** A command may ask for its database several times. */
const noted = new Set<string>();

/** The contents of `up.json`. */
export interface UpFile {
  url: string;
  /** Metrics of all processes. */
  metrics_url: string;
  database_url: string;
  pids: { up: number; api: number; workers: number[]; postgres: number | null };
  /** Start time of the process `up`: distinguishes it from a later process with the same pid. */
  started: string;
  /** Device and inode of the data folder: distinguishes it from a copy, which contains this file too. */
  folder: string;
}

export function upFilePath(config: Config): string {
  return path.join(config.dataDir, 'up.json');
}

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
 * The database of a service: DATABASE_URL, else that of a running `up`. Throws `AppError` `no_service` or `restore_unfinished`.
 */
export async function findDatabaseUrl(config: CommandConfig): Promise<string> {
  await noteDatabase(config);
  const url = config.databaseUrl ?? (await findRunningUp(config))?.database_url;
  if (url === undefined) throw await noService(config, 'DATABASE_URL');
  return url;
}

/**
 * The URL that the client commands call. Throws `AppError` `no_service` or `restore_unfinished` when none is configured or
 * running.
 */
export async function findServiceUrl(config: CommandConfig): Promise<string> {
  await noteService(config);
  if (config.apiUrl !== undefined) return config.apiUrl;
  const up = await findRunningUp(config);
  if (up !== null) return up.url;
  throw await noService(config, 'ENRICH_URL');
}

/**
 * DATABASE_URL wins over the database of a folder, also one that the command line names, because processes on several
 * machines have both: files in a shared folder. Says so once, unless both are the same.
 */
export async function noteDatabase(config: CommandConfig): Promise<void> {
  const { databaseUrl, namedFolder } = config;
  if (databaseUrl === undefined || namedFolder === undefined) return;
  if ((await findRunningUp(config))?.database_url === databaseUrl) return;
  sayOnce(
    `DATABASE_URL is set: the database is ${nameOf(databaseUrl)}, not that of --data-dir ${namedFolder}. To use the folder's, unset DATABASE_URL.`,
  );
}

/** The same for ENRICH_URL and the service of a folder. */
async function noteService(config: CommandConfig): Promise<void> {
  const { apiUrl, namedFolder } = config;
  if (apiUrl === undefined || namedFolder === undefined) return;
  const up = await findRunningUp(config);
  if (up !== null && new URL(up.url).origin === new URL(apiUrl).origin) return;
  sayOnce(
    `ENRICH_URL is set: the service is ${apiUrl}, not that of --data-dir ${namedFolder}. To use the folder's, unset ENRICH_URL.`,
  );
}

function sayOnce(line: string): void {
  if (!noted.has(line)) say(line);
  noted.add(line);
}

/** The servers of a URL and the database, without the password. */
function nameOf(databaseUrl: string): string {
  const servers = readDatabaseUrl(databaseUrl);
  const { pathname } = new URL(servers[0]?.url ?? databaseUrl);
  return `${servers.map(({ host, port }) => `${host}:${port}`).join(',')}${pathname}`;
}

/** Throws `AppError` `restore_unfinished` for a folder that no start would accept. */
async function noService(
  { dataDir, namedFolder }: CommandConfig,
  option: string,
): Promise<AppError> {
  await refuseUnfinished(dataDir);
  const start = namedFolder === undefined ? 'npm start' : `enrich up --data-dir ${dataDir}`;
  return unavailable(
    'no_service',
    `No service is running on the data folder ${dataDir}. Start it with \`${start}\`, or set ${option}.`,
  );
}
