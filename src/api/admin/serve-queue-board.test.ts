import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { expectProblem } from '../../../tests/support/problem.ts';
import { openRedisBackend } from '../../jobs/queue/backend-redis.ts';
import { openQueues, type Queues } from '../../jobs/queue/queues.ts';
import { renderProblems } from '../http/problem.ts';
import { serveQueueBoard } from './serve-queue-board.ts';

const log = pino({ level: 'silent' });

async function getBoard(queues: Pick<Queues, 'opened' | 'countJobs'>, paths: string[]) {
  const app = express()
    .use((_request, response, next) => {
      response.setHeader('X-Request-Id', 'one');
      next();
    })
    .use('/admin/queues', serveQueueBoard(queues))
    .use(renderProblems(log));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const responses: Response[] = [];
  for (const path of paths)
    responses.push(await fetch(`http://127.0.0.1:${port}/admin/queues${path}`));
  server.close();
  return responses;
}

test('while the store of the queue is away, the board is unavailable', async () => {
  // Nothing listens on this port.
  const backend = openRedisBackend({ url: 'redis://127.0.0.1:1', prefix: 'none' }, log);
  const queues = openQueues(backend, log);
  const [refused] = await getBoard(queues, ['/api/queues']);
  expect(refused?.headers.get('retry-after')).toBe('1');
  await expectProblem(refused as Response, { status: 503, code: 'unavailable' });
  await backend.close();
});

test('a board that could not be loaded is loaded again', async () => {
  let loads = 0;
  const opened = () => {
    loads += 1;
    return loads === 1 ? [null as never] : [];
  };
  const responses = await getBoard({ opened, countJobs: async () => [] }, ['/', '/']);
  expect(responses.map(({ status }) => status)).toEqual([500, 200]);
});
