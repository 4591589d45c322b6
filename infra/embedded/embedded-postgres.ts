/**
 * A real PostgreSQL server that needs nothing installed: binaries from npm, files in the data
 * folder, a random password, loopback only. It lives as long as this process at most, and what an
 * earlier process left behind, however that ended, never keeps it from starting.
 */
import { mkdir, realpath } from 'node:fs/promises';
import { must } from '../../src/core/lib/assert.ts';
import { AppError } from '../../src/core/lib/errors.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { prepareCluster } from './postgres-cluster.ts';
import { type PostgresCredentials, readCredentials } from './postgres-credentials.ts';
import { adminRole, prepareRoles, serviceRole } from './postgres-roles.ts';
import { type RunningServer, startServer } from './postgres-server.ts';

export interface EmbeddedPostgres extends AsyncDisposable {
  /** postgres://enrich_service:<password>@127.0.0.1:<port>/enrich, the address for the service. */
  url: string;
  /** The superuser's address, for tests and benchmarks that make databases. */
  adminUrl: string;
  /** The postmaster's own pid. */
  pid: number;
  /** Resolves with a reason when the server ends without being asked; else stays pending. */
  exited: Promise<string>;
  /** Fast shutdown (SIGINT), waits for the end, at most 15 s, then immediate. */
  stop(): Promise<void>;
}

interface EmbeddedPostgresOptions {
  /** Folder for the server's files, made if need be; the cluster goes into `<dataDir>/postgres`. */
  dataDir: string;
  /** Receives a sentence about each thing out of the ordinary. */
  log?: (line: string) => void;
  /** Server settings over the default ones; `{ fsync: 'off' }` is for throw-away servers. */
  settings?: Record<string, string>;
}

/**
 * Starts the server whose files live in `<dataDir>/postgres`, made on first use, and resolves once
 * it answers. Call from the main thread: on Linux the server ends with the thread that started it.
 * Throws AppError data_folder_in_use when a live process already serves this folder, and other
 * AppErrors, with the server's own words, when there is no server for this machine or it fails.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { log = () => {}, settings = {} } = options;
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const dataDir = await realpath(options.dataDir);
  const lock = await lockDataFolder(dataDir);
  try {
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

/** The superuser's address of the server that runs on this data folder, for tests and benchmarks. */
export async function readAdminUrl(dataDir: string): Promise<string> {
  return urlsOf(must(await readCredentials(dataDir), 'credentials')).adminUrl;
}

function urlsOf({ port, password, servicePassword }: PostgresCredentials) {
  const urlOf = (role: string, secret: string) =>
    `postgres://${role}:${secret}@127.0.0.1:${port}/${adminRole}`;
  return { url: urlOf(serviceRole, servicePassword), adminUrl: urlOf(adminRole, password) };
}

/** Prepares the roles; a server that cannot be used is stopped, and what it said goes into the error. */
async function openToService(
  server: RunningServer,
  passwords: { adminPassword: string; servicePassword: string },
): Promise<void> {
  try {
    await prepareRoles({ port: server.port, ...passwords });
  } catch (cause) {
    await server.stop();
    throw new AppError({
      code: 'embedded_postgres_failed',
      status: 503,
      message: `The database's role cannot be prepared: ${cause}. ${await server.ended}`,
      cause,
    });
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
