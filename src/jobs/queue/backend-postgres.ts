/**
 * BullMQ on its PostgreSQL backend, in the schema `bullmq` of the same server. All queues and workers of a
 * process share one small pool; by default each would open a pool of ten.
 */
import { createPostgresBackend, type PgPool, Queue, runMigrations, Worker } from 'bullmq';
import pg from 'pg';
import type { Log } from '../../core/log.ts';
import type { QueueBackend } from './backend.ts';
import type { QueueTelemetry } from './telemetry.ts';

/** A healthy server accepts at once; an unavailable one must not delay the caller that adds a job. */
const CONNECT_MS_MAX = 5_000;

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
  const pool = new pg.Pool({
    connectionString: url,
    max: 2 + 2 * listeners,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    application_name: 'enrichment-pipeline queue',
    options: '-c search_path=bullmq',
  });
  // Every queue and worker adds a listener to the pool.
  pool.setMaxListeners(0);
  pool.on('error', (error) => log.warn({ err: error }, 'queue connection lost'));
  const connection = pool as unknown as PgPool;
  const traces = telemetry === undefined ? {} : { telemetry };
  return {
    openQueue: (name) =>
      new Queue(name, { connection, ...traces }, createPostgresBackend) as unknown as Queue,
    openWorker: (name, work, options) =>
      new Worker(
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

/** Creates or migrates the queue's schema. Safe to call concurrently from many processes. */
export async function migrateQueue(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await runMigrations(client, 'bullmq');
  } finally {
    await client.end();
  }
}
