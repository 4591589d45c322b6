/**
 * The cluster, PostgreSQL's word for the files of one server: its folder and its user. It is created on
 * first use, and cleaned of what an earlier server left. The caller holds the data folder's lock.
 */
import { randomBytes } from 'node:crypto';
import {
  access,
  lchown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AppError, conflict, unavailable } from '../../src/core/lib/errors.ts';
import { dataFolderInUse } from './data-folder-lock.ts';
import {
  copyPostgresBinaries,
  findPostgresBinaries,
  makeReadableFolder,
  type PostgresBinaries,
} from './postgres-binaries.ts';
import {
  createPassword,
  type PostgresCredentials,
  readCredentials,
  writeCredentials,
} from './postgres-credentials.ts';
import { ADMIN_ROLE } from './postgres-roles.ts';
import { readFolderIdentity, servesDataFolder } from './process-identity.ts';
import { createLauncher, type Launcher, runTied } from './tied-process.ts';
import { canReach, chooseServerUser, type ServerUser, type UserIds } from './unprivileged-user.ts';

/** Maximum time for the shutdown of a server whose parent died. */
const PREVIOUS_SERVER_WAIT_MS = 15_000;

/** Number of reads, 50 ms apart, of a postmaster.pid without a pid before it counts as damaged. */
const EMPTY_LOOKS_MAX = 20;

/** The folder for root's files that another user has to reach. */
const BINARIES_CACHE_ROOT = '/var/cache/enrich';
const RELOCATED_DATA_ROOT = '/var/lib/enrich';

export interface PostgresCluster {
  /** Folder of the cluster's files, usually `<dataDir>/postgres`. */
  dataFolder: string;
  binaries: PostgresBinaries;
  launcher: Launcher;
  credentials: PostgresCredentials;
}

interface PrepareOptions {
  /** Existing folder, absolute and without symbolic links. */
  dataDir: string;
  log: (line: string) => void;
  /** False only for throw-away servers: a crash of the machine may then lose new files. */
  durable: boolean;
}

/** Prepares the cluster for a start; throws `AppError` when that fails. */
export async function prepareCluster(options: PrepareOptions): Promise<PostgresCluster> {
  const { dataDir, log, durable } = options;
  const stored = await readCredentials(dataDir);
  const wanted = folderOf(dataDir, stored);
  if (stored?.dataFolder) await claimRelocated(stored.dataFolder, dataDir);
  const user = await chooseServerUser(wanted);
  const binaries = await findReachableBinaries(user, log);
  const launcher = await createLauncher(user);
  const isNew = !(await hasCluster(wanted));
  const dataFolder = isNew ? await placeCluster(user, wanted, log) : wanted;
  if (!isNew) await requireReachable(user, dataFolder);

  const credentials = stored ?? {
    ...{ password: createPassword(), servicePassword: createPassword() },
    ...{ port: null, dataFolder: null },
  };
  if (dataFolder !== wanted) {
    credentials.dataFolder = dataFolder;
    await claimRelocated(dataFolder, dataDir);
  }
  const cluster = { dataFolder, binaries, launcher, credentials };
  // Stored before the cluster exists: after any interruption its password is known.
  await writeCredentials(dataDir, credentials);
  if (isNew) {
    await createCluster(cluster, durable);
  } else {
    await outwaitPreviousServer(cluster.dataFolder, dataDir, log);
    if (stored === null) await replacePassword(cluster);
  }
  return cluster;
}

/**
 * Returns true for a data folder with a database, and false for one that never had any. Throws `AppError` 503 `database_gone`
 * when it had one: a server has run on it, or it has stored files, which only a database names. A new database would be
 * empty, and its service would take the folder's files for those of another.
 */
export async function hasDatabase(dataDir: string): Promise<boolean> {
  const stored = await readCredentials(dataDir);
  const folder = folderOf(dataDir, stored);
  if (await hasCluster(folder)) return true;
  // A start that was killed during initdb leaves credentials too, without a port.
  if ((stored?.port ?? null) !== null || (await hasFiles(path.join(dataDir, 'objects')))) {
    throw databaseGone(folder);
  }
  return false;
}

/** Returns the error of a data folder whose database should be in `folder`. */
export function databaseGone(folder: string): AppError {
  return unavailable(
    'database_gone',
    `The database's files in ${folder} are gone. Mount the disk that had them, put that folder back, or restore a backup ` +
      'into a new data folder (docs/backup.md, Restore). If the service has a database of its own elsewhere, set DATABASE_URL.',
  );
}

async function hasFiles(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code !== 'ENOENT') throw error;
    return [];
  });
  return names.length > 0;
}

function folderOf(dataDir: string, stored: PostgresCredentials | null): string {
  return stored?.dataFolder ?? path.join(dataDir, 'postgres');
}

function hasCluster(folder: string): Promise<boolean> {
  return exists(path.join(folder, 'PG_VERSION'));
}

async function findReachableBinaries(
  user: ServerUser,
  log: (line: string) => void,
): Promise<PostgresBinaries> {
  const original = await findPostgresBinaries();
  if (!isSomebodyElse(user) || (await canReach(user, original.postgres))) return original;
  const copy = await copyPostgresBinaries(original, BINARIES_CACHE_ROOT);
  log(`PostgreSQL runs from ${copy.folder}, as its user may not enter ${original.folder}.`);
  return copy;
}

/** Returns the folder for a new cluster: the wanted one, or a random one that the user can reach. */
async function placeCluster(
  user: ServerUser,
  wanted: string,
  log: (line: string) => void,
): Promise<string> {
  const parent = path.dirname(wanted);
  if (!isSomebodyElse(user) || (await canReach(user, parent))) return wanted;
  await makeReadableFolder(RELOCATED_DATA_ROOT);
  await requireReachable(user, RELOCATED_DATA_ROOT);
  const folder = path.join(RELOCATED_DATA_ROOT, `postgres-${randomBytes(8).toString('hex')}`);
  log(`PostgreSQL's files are in ${folder}, as its user may not enter ${parent}.`);
  return folder;
}

/**
 * Records, next to a cluster outside of the data folder, which data folder it belongs to. Throws AppError
 * data_folder_copied when another one that still exists has it: the copy would write to its database.
 */
async function claimRelocated(dataFolder: string, dataDir: string): Promise<void> {
  const file = `${dataFolder}.owner`;
  const owner = await readFile(file, 'utf8').catch(() => null);
  if (owner === dataDir) return;
  if (owner !== null && (await readCredentials(owner))?.dataFolder === dataFolder) {
    const [original, own] = await Promise.all([owner, dataDir].map(readFolderIdentity));
    if (original === own) return;
    throw conflict(
      'data_folder_copied',
      `The data folder ${dataDir} is a copy of ${owner}, whose database is outside of it in ${dataFolder}. ` +
        'Use the original, or move it away first if the copy is to take its place.',
    );
  }
  await writeFile(file, dataDir, { mode: 0o600 });
}

async function requireReachable(user: ServerUser, folder: string): Promise<void> {
  if (!isSomebodyElse(user) || (await canReach(user, folder))) return;
  throw unavailable(
    'data_folder_unreachable',
    `PostgreSQL does not run as root, and the user it runs as here (id ${user.ids?.uid ?? 0}) ` +
      `may not enter ${folder}. Give that user the folder (chown -R) and a way to it (chmod o+x).`,
  );
}

function isSomebodyElse(user: ServerUser): boolean {
  return user.ids !== null || user.prefix.length > 0;
}

/**
 * Runs initdb in a temporary folder, then renames it: an interrupted start leaves no partial cluster.
 * The builtin C.UTF-8 sorts by code point, the same on every machine and in every version.
 */
async function createCluster(cluster: PostgresCluster, durable: boolean): Promise<void> {
  const { dataFolder, binaries, launcher, credentials } = cluster;
  await removeStages(dataFolder);
  const stage = `${dataFolder}.new-${randomBytes(8).toString('hex')}`;
  await mkdir(stage, { mode: 0o700 });
  try {
    const passwordFile = path.join(stage, 'password');
    await writeFile(passwordFile, credentials.password, { mode: 0o600 });
    const fresh = path.join(stage, 'data');
    const { code, output } = await runNamed(launcher, stage, [
      ...[binaries.initdb, '-D', fresh, `--username=${ADMIN_ROLE}`, `--pwfile=${passwordFile}`],
      ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale-provider=builtin'],
      ...['--builtin-locale=C.UTF-8', '--locale=C', '--no-instructions'],
      ...(durable ? [] : ['--no-sync']),
    ]);
    if (code !== 0) throw clusterFailed('cannot be made', dataFolder, output);
    await rename(fresh, dataFolder);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Removes the remains of starts that were killed during initdb; the lock guarantees that none is running. */
async function removeStages(dataFolder: string): Promise<void> {
  const parent = path.dirname(dataFolder);
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${path.basename(dataFolder)}.new-`)) continue;
    await rm(path.join(parent, name), { recursive: true, force: true });
  }
}

/**
 * Waits at most 15 s for a server that is still shutting down after its parent died.
 *
 * Then fixes a stale postmaster.pid whose pid now belongs to another program: the server would take that program
 * for its predecessor and refuse to start. The pid is replaced by our own, which a server never takes for a
 * predecessor as it is its parent; the rest of the file stays, because the server uses it to find processes of a
 * predecessor that still use the files.
 */
async function outwaitPreviousServer(
  dataFolder: string,
  dataDir: string,
  log: (line: string) => void,
): Promise<void> {
  const file = path.join(dataFolder, 'postmaster.pid');
  const deadline = Date.now() + PREVIOUS_SERVER_WAIT_MS;
  let emptyLooks = 0;
  for (let waited = false; ; waited = true) {
    const text = await readFile(file, 'utf8').catch(() => null);
    const pid = Number(text?.split('\n')[0]);
    if (text === null) return;
    if (!Number.isInteger(pid) || pid <= 0) {
      // A server that is just starting writes it next. If a full disk left it so, no server starts on it.
      emptyLooks += 1;
      if (emptyLooks > EMPTY_LOOKS_MAX) return await rm(file);
      await delay(50);
      continue;
    }
    if (!(await servesDataFolder(pid, dataFolder))) {
      // A server that has ended since has removed it.
      if ((await readFile(file, 'utf8').catch(() => null)) !== text) continue;
      return await replaceFile(file, text.replace(/^.*/, String(process.pid)));
    }
    if (Date.now() > deadline) throw dataFolderInUse(dataDir, pid);
    if (!waited) log(`PostgreSQL process ${pid} still uses the data folder, waiting for it.`);
    await delay(50);
  }
}

/** Writes a temporary file first: on a full disk the old one stays. */
async function replaceFile(file: string, text: string): Promise<void> {
  const fresh = `${file}.new`;
  try {
    const { uid, gid } = await stat(file);
    await writeFile(fresh, text, { mode: 0o600 });
    await lchown(fresh, uid, gid);
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

/** For a cluster without credentials file: a server without network sets a new password. */
async function replacePassword({ dataFolder, ...cluster }: PostgresCluster): Promise<void> {
  const { code, output } = await runNamed(
    cluster.launcher,
    dataFolder,
    [cluster.binaries.postgres, '--single', '-D', dataFolder, 'postgres'],
    `alter role ${ADMIN_ROLE} password '${cluster.credentials.password}';\n`,
  );
  if (code !== 0 || output.includes('ERROR:')) {
    throw clusterFailed(
      'has no credentials file, and no new password can be set',
      dataFolder,
      output,
    );
  }
}

/**
 * Runs a program that requires a user with a name, and works on the files of one folder: when the server's user
 * has no name, a named user owns the folder meanwhile.
 */
async function runNamed(
  launcher: Launcher,
  folder: string,
  command: string[],
  input = '',
): Promise<{ code: number | null; output: string }> {
  const { ids, namedIds } = launcher.user;
  if (ids !== null) await giveFolder(folder, namedIds ?? ids);
  const user = { ...launcher.user, ids: namedIds ?? ids };
  const result = await runTied({ ...launcher, user }, command, input);
  if (ids !== null && namedIds !== null) await giveFolder(folder, ids);
  return result;
}

async function giveFolder(folder: string, { uid, gid }: UserIds): Promise<void> {
  await lchown(folder, uid, gid);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    await lchown(path.join(entry.parentPath, entry.name), uid, gid);
  }
}

function clusterFailed(what: string, dataFolder: string, output: string): AppError {
  return unavailable(
    'embedded_postgres_failed',
    `The database in ${dataFolder} ${what}: ${output.trim()}`,
  );
}

async function exists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}
