/**
 * A real PostgreSQL server without an installation: binaries from npm, files in the data folder, a random
 * password, loopback only. It never outlives this process, and remains of an earlier process, however that ended,
 * never prevent its start.
 */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { must } from '../../src/core/lib/assert.ts';
import { unavailable } from '../../src/core/lib/errors.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { databaseGone, hasDatabase, prepareCluster } from './postgres-cluster.ts';
import { type PostgresCredentials, readCredentials } from './postgres-credentials.ts';
import { ADMIN_ROLE, prepareRoles, SERVICE_ROLE } from './postgres-roles.ts';
import { type RunningServer, startServer } from './postgres-server.ts';
import { makeDataFolder } from './private-folder.ts';
import { beginRestore, refuseUnfinished } from './restored-folder.ts';

export interface EmbeddedPostgres extends AsyncDisposable {
  /** postgres://enrich_service:<password>@127.0.0.1:<port>/enrich, the address for the service. */
  url: string;
  /** The superuser's address, for tests and benchmarks that create databases. */
  adminUrl: string;
  /** The postmaster's own pid. */
  pid: number;
  /** Resolves with a reason when the server ends unexpectedly; otherwise stays pending. */
  exited: Promise<string>;
  /** Fast shutdown (SIGINT), waits at most 15 s for the end, then immediate shutdown. */
  stop(): Promise<void>;
}

interface EmbeddedPostgresOptions {
  /** Folder of the server's files, created if missing; the cluster is in `<dataDir>/postgres`. */
  dataDir: string;
  /** Receives a sentence about each unusual event. */
  log?: (line: string) => void;
  /** Server settings that override the default ones; `{ fsync: 'off' }` is for throw-away servers. */
  settings?: Record<string, string>;
  /** The folder is one that a restore fills: it must be new, and no other start succeeds until `endRestore`. */
  restores?: boolean;
  /** The folder has a database: one that has gone is not replaced by a new one. */
  again?: boolean;
}

/**
 * Starts the server whose files are in `<dataDir>/postgres`, created on first use, and resolves when it responds. Call it from
 * the main thread: on Linux the server ends with the thread that started it. Throws `AppError`
 * - `data_folder_in_use` when a live process already serves this folder,
 * - `restore_unfinished` after a restore that failed,
 * - `database_gone` when the folder had a database whose files are gone,
 * - others, with the server's own message, when there is no server for this machine or it fails.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { log = () => {}, settings = {}, restores = false, again = false } = options;
  // Before the lock, which would take what is left of a killed service for a copy, and create a folder that is gone.
  if (!restores && !(await hasDatabase(options.dataDir)) && again) {
    throw databaseGone(path.join(options.dataDir, 'postgres'));
  }
  await makeDataFolder(options.dataDir);
  const dataDir = await realpath(options.dataDir);
  const lock = await lockDataFolder(dataDir);
  try {
    await (restores ? beginRestore : refuseUnfinished)(dataDir);
    const durable = settings.fsync !== 'off';
    const cluster = await prepareCluster({ dataDir, log, durable });
    const server = await startServer({ cluster, dataDir, log, settings });
    const released = server.ended
      .then(lock.release)
      .catch((error) => log(`The lock of ${dataDir} stays until this process ends: ${error}`));
    const { password, servicePassword } = cluster.credentials;
    await openToService(server, { adminPassword: password, servicePassword });
    return createHandle(server, urlsOf(cluster.credentials), released);
  } catch (error) {
    await lock.release().catch(() => {});
    throw error;
  }
}

/** Returns the superuser's address of the server that runs on this data folder, for tests and benchmarks. */
export async function readAdminUrl(dataDir: string): Promise<string> {
  return urlsOf(must(await readCredentials(dataDir), 'credentials')).adminUrl;
}

function urlsOf({ port, password, servicePassword }: PostgresCredentials) {
  const urlOf = (role: string, secret: string) =>
    `postgres://${role}:${secret}@127.0.0.1:${port}/${ADMIN_ROLE}`;
  return { url: urlOf(SERVICE_ROLE, servicePassword), adminUrl: urlOf(ADMIN_ROLE, password) };
}

/** Prepares the roles; stops a server that cannot be used, and adds its output to the error. */
async function openToService(
  server: RunningServer,
  passwords: { adminPassword: string; servicePassword: string },
): Promise<void> {
  try {
    await prepareRoles({ port: server.port, ...passwords });
  } catch (cause) {
    await server.stop();
    throw unavailable(
      'embedded_postgres_failed',
      `The database's role cannot be prepared: ${cause}. ${await server.ended}`,
      { cause },
    );
  }
}

function createHandle(
  server: RunningServer,
  urls: { url: string; adminUrl: string },
  released: Promise<void>,
): EmbeddedPostgres {
  const stop = async () => {
    await server.stop();
    await released;
  };
  const exited = new Promise<string>((resolve) => {
    void server.ended.then((reason) => {
      if (!server.isStopping()) resolve(reason);
    });
  });
  return { ...urls, pid: server.pid, exited, stop, [Symbol.asyncDispose]: stop };
}
