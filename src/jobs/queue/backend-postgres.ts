/**
 * BullMQ on its PostgreSQL backend, in the schema `bullmq` of the same server. All queues and workers of a
 * process share one small pool; by default each would open a pool of ten.
 */
import type { Socket } from 'node:net';
import { createPostgresBackend, type PgPool, Queue, runMigrations, type Worker } from 'bullmq';
import pg from 'pg';
import type { ServerWatch } from '../../core/db/server-watch.ts';
import { watchServers } from '../../core/db/watch-servers.ts';
import { unavailable } from '../../core/lib/errors.ts';
import type { Log } from '../../core/log.ts';
import type { QueueBackend } from './backend.ts';
import { PausingWorker } from './pausing-worker.ts';
import type { QueueTelemetry } from './telemetry.ts';

/**
 * On a machine with much else to do, the first connections of a process take seconds, and a queue that fails to open ends its
 * process. Callers that add or count jobs wait for less, whatever this is.
 */
const CONNECT_MS_MAX = 20_000;

/**
 * Opens the pool. A worker holds one connection for each queue that it listens on, so a process with
 * workers needs `listeners` more than one that only enqueues.
 */
export function openPostgresBackend(
  url: string,
  log: Log,
  listeners: number,
  telemetry?: QueueTelemetry,
): QueueBackend {
  const { connectionString, Client } = clientOf(url);
  const pool = new pg.Pool({
    connectionString,
    Client,
    max: 2 + 2 * listeners,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    application_name: 'enrichment-pipeline queue',
    // A crash of the server may lose the last jobs, which the sweep adds again: they are worth no flush of the log.
    options: '-c search_path=bullmq -c synchronous_commit=off',
  });
  // Every queue and worker adds a listener to the pool.
  pool.setMaxListeners(0);
  pool.on('error', (error: Error & { client?: unknown }) => {
    // The driver adds the whole client, which would be kilobytes of a line of the log.
    delete error.client;
    log.warn({ err: error }, 'queue connection lost');
  });
  const connection = pool as unknown as PgPool;
  const traces = telemetry === undefined ? {} : { telemetry };
  return {
    openQueue: (name) =>
      new Queue(name, { connection, ...traces }, createPostgresBackend) as unknown as Queue,
    openWorker: (name, work, options) =>
      new PausingWorker(
        name,
        work,
        { ...options, connection, ...traces },
        createPostgresBackend,
      ) as unknown as Worker,
    async repair() {
      const { rows } = await pool.query("select to_regclass('bullmq.migration') as found");
      if (rows[0]?.found !== null) return false;
      await migrateQueue(url);
      return true;
    },
    close: () => pool.end(),
  };
}

/**
 * Creates or migrates the queue's schema. Safe to call concurrently from many processes. Throws `AppError` 503 when the
 * connection ends meanwhile.
 */
export async function migrateQueue(url: string): Promise<void> {
  const { connectionString, Client } = clientOf(url);
  const client = new Client({ connectionString });
  let isLost = false;
  // Without a listener it would end the process.
  client.on('error', () => {
    isLost = true;
  });
  await client.connect();
  try {
    await runMigrations(client, 'bullmq');
  } catch (cause) {
    if (!isLost) throw cause;
    const message = 'The database ended while its queue was migrated.';
    throw unavailable('database_unavailable', message, { cause });
  } finally {
    await client.end();
  }
}

/**
 * A client whose loss ends no process. The pool listens only to idle ones, and only from some time after the server is ready: a
 * connection may be ended in the same packet, or later between two statements of a transaction.
 */
class Client extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}

/** Returns a client of the driver whose connections are watched, and are to the primary of several servers. */
function clientOf(url: string): { connectionString: string; Client: typeof pg.Client } {
  const servers = watchServers(url);
  return servers === null
    ? { connectionString: url, Client }
    : { connectionString: servers.url, Client: watchedClientOf(servers) };
}

function watchedClientOf(servers: ServerWatch): typeof pg.Client {
  return class extends Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
      const connected = this.#connect();
      if (callback === undefined) return connected;
      const succeed = callback as () => void;
      void connected.then(() => succeed(), callback);
      return undefined;
    }

    async #connect(): Promise<pg.Client> {
      const server = await servers.find();
      Object.assign(this, { host: server.host, port: server.port });
      servers.track(this.connection.stream as Socket, server);
      await super.connect();
      return this;
    }
  };
}
