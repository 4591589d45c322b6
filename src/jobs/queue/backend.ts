/**
 * BullMQ on its PostgreSQL backend, in the schema `bullmq` of the same server. All queues and workers
 * of a process share one small pool; left alone, each would open a pool of ten.
 */
import { createPostgresBackend, type PgPool, runMigrations } from 'bullmq';
import pg from 'pg';
import type { Log } from '../../core/log.ts';

/** The pool and the factory that every queue and worker of this process is built with. */
export interface QueueBackend {
  connection: PgPool;
  factory: typeof createPostgresBackend;
  close(): Promise<void>;
}

/**
 * Opens the pool. A worker holds one connection for each queue that it listens on, so a process with
 * workers needs `listeners` more than one that only enqueues.
 */
export function openQueueBackend(url: string, log: Log, listeners: number): QueueBackend {
  const connection = new pg.Pool({
    connectionString: url,
    max: 2 + 2 * listeners,
    keepAlive: true,
    application_name: 'enrichment-pipeline queue',
    options: '-c search_path=bullmq',
  });
  connection.on('error', (error) => log.warn({ err: error }, 'queue connection lost'));
  return {
    connection: connection as unknown as PgPool,
    factory: createPostgresBackend,
    close: () => connection.end(),
  };
}

/** Creates or updates the queue's own schema. */
export async function migrateQueue(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await runMigrations(client, 'bullmq');
  } finally {
    await client.end();
  }
}
