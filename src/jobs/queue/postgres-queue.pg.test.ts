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
