import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Pool } from 'pg';
import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../../tests/support/database.ts';
import { loseQueue } from '../../../tests/support/lose-queue.ts';
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
      lose: () => loseQueue(database.sql),
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

test('a connection that an operator ends while it is opened ends no process', async () => {
  // The server is ready, and ends the connection in the same packet.
  const reply = Buffer.from(
    'R\0\0\0\x08\0\0\0\0Z\0\0\0\x05IE\0\0\0\x1aSFATAL\0C57P01\0Mended\0\0',
    'latin1',
  );
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(reply));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const backend = openPostgresBackend(`postgres://nobody@127.0.0.1:${port}/nowhere`, log, 0);
  await expect(backend.repair()).rejects.toThrow();
  await backend.close();
  server.close();
});
