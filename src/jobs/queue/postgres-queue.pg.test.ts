import type { Pool } from 'pg';
import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../../tests/support/database.ts';
import { createLog } from '../../core/log.ts';
import { openPostgresBackend } from './backend-postgres.ts';
import { queueNames } from './job-names.ts';
import { testQueues } from './queues.test-suite.ts';
import { openQueues } from './queues.ts';

const log = createLog('silent', 'test');

describe('the queue in Postgres', () => {
  testQueues(async () => {
    const database = await createTestDatabase();
    return {
      backend: openPostgresBackend(database.url, log, queueNames.length),
      // In a deadlock with a worker, Postgres ends the worker's statement.
      lose: async () => {
        await database.sql.begin(async (sql) => {
          await sql`set local deadlock_timeout = '1min'`;
          await sql`drop schema bullmq cascade`;
        });
      },
      refuse: () => database.sql`alter schema bullmq rename to lost`,
      obey: () => database.sql`alter schema lost rename to bullmq`,
      close: () => database.drop(),
    };
  });
});

test('while Postgres is unavailable a wake-up is lost without an error, and a repair fails', async () => {
  const backend = openPostgresBackend('postgres://nobody@127.0.0.1:1/nowhere', log, 0);
  const queues = openQueues(backend, log);
  await queues.wake('split-batch', [{ id: 'split-batch-a', payload: { batchId: 'a' } }]);
  await expect(queues.repair()).rejects.toThrow('ECONNREFUSED');
  await queues.close();
  await backend.close();
});

test('a connection that an operator ends while it is in use ends no process', async () => {
  const { sql, url, drop } = await createTestDatabase();
  const backend = openPostgresBackend(url, log, 0);
  const queue = backend.openQueue('chunks');
  const client = await (queue.opts.connection as unknown as Pool).connect();
  const { rows } = await client.query('select pg_backend_pid() as pid');
  const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
  await sql`select pg_terminate_backend(${rows[0].pid})`;
  // Without a listener of its own, its error would be that of the process.
  await ended;
  client.release(true);
  await queue.close();
  await backend.close();
  await drop();
});
