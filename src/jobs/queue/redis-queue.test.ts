import { expect, test } from 'vitest';
import { describeWithRedis, startRedis } from '../../../tests/support/redis-server.ts';
import { createLog } from '../../core/log.ts';
import { openRedisBackend } from './backend-redis.ts';
import { queueNames } from './job-names.ts';
import { testQueues } from './queues.test-suite.ts';
import { openQueues } from './queues.ts';

const log = createLog('silent', 'test');

describeWithRedis('the queue in Redis', () => {
  testQueues(async () => {
    const server = await startRedis();
    return {
      backend: openRedisBackend({ url: server.url, prefix: 'test' }, log),
      lose: () => server.client.flushall(),
      refuse: () => server.client.config('SET', 'maxmemory', '1mb'),
      obey: () => server.client.config('SET', 'maxmemory', '0'),
      close: async () => server[Symbol.asyncDispose](),
    };
  });

  test('each queue has its own hash tag, which prefixes every key', async () => {
    await using server = await startRedis();
    const backend = openRedisBackend({ url: server.url, prefix: 'mine' }, log);
    const queues = openQueues(backend, log);
    await queues.wake('split-batch', [{ id: 'split-batch-a', payload: { batchId: 'a' } }]);
    await queues.wake('run-chunk', [
      { id: 'a-1-1', payload: { batchId: 'a', chunk: 1, attempt: 1, chunkId: 1, epoch: 1 } },
    ]);
    await queues.wake('quote-batch', [{ id: 'quote-batch-a', payload: { batchId: 'a' } }]);
    const keys = await server.client.keys('*');
    const tags = new Set(keys.map((key) => /^\{[\w-]+\}/.exec(key)?.[0]));
    expect(tags).toEqual(new Set(queueNames.map((name) => `{mine-${name}}`)));
    await queues.close();
    await backend.close();
  });

  test('a damaged job is not held, and keeps no other one from being found or woken', async () => {
    await using server = await startRedis();
    const backend = openRedisBackend({ url: server.url, prefix: 'mine' }, log);
    const queues = openQueues(backend, log);
    const ids = ['a', 'b', 'c'];
    const payload = { batchId: 'a', chunk: 1, attempt: 1, chunkId: 1, epoch: 1 };
    const keyOf = (id: string) => `{mine-chunks}:chunks:${id}`;
    await queues.wake(
      'run-chunk',
      ids.map((id) => ({ id, payload })),
    );
    expect(await queues.findHeld('run-chunk', ids, 5_000)).toEqual(new Set(ids));
    await server.client.hset(keyOf('a'), 'data', '{rubbish');
    await server.client.set(keyOf('b'), 'rubbish');
    expect(await queues.findHeld('run-chunk', ids, 5_000)).toEqual(new Set(['c']));
    const [refused, last] = ['refused', 'last'];
    const queue = queues.opened().find(({ name }) => name === 'chunks');
    const add = queue?.add.bind(queue);
    Object.assign(queue ?? {}, {
      add: (...words: Parameters<NonNullable<typeof add>>) =>
        words[2]?.jobId === refused ? Promise.reject(new Error('refused')) : add?.(...words),
    });
    await queues.wake(
      'run-chunk',
      [refused, last].map((id) => ({ id, payload })),
    );
    expect(await queues.findHeld('run-chunk', [refused, last], 5_000)).toEqual(new Set([last]));
    await queues.close();
    await backend.close();
  });

  test('a job that is in no list of its queue is not held: no worker takes it', async () => {
    await using server = await startRedis();
    const backend = openRedisBackend({ url: server.url, prefix: 'mine' }, log);
    const queues = openQueues(backend, log);
    const payload = { batchId: 'a', chunk: 1, attempt: 1, chunkId: 1, epoch: 1 };
    await queues.wake('run-chunk', [{ id: 'a', payload }]);
    await server.client.del('{mine-chunks}:chunks:wait');
    await queues.wake('run-chunk', [{ id: 'b', payload }]);
    expect(await queues.findHeld('run-chunk', ['a', 'b'], 5_000)).toEqual(new Set(['b']));
    await queues.close();
    await backend.close();
  });

  test('a wake-up is lost without an error or a wait while Redis is unavailable', async () => {
    const server = await startRedis();
    const backend = openRedisBackend({ url: server.url, prefix: 'test' }, log);
    const queues = openQueues(backend, log);
    const wake = (id: string) => queues.wake('split-batch', [{ id, payload: { batchId: id } }]);
    await wake('a');
    await server.kill();
    const before = performance.now();
    for (const id of ['b', 'c', 'd']) await wake(id);
    expect(performance.now() - before).toBeLessThan(1_000);
    await server.start();
    // The client reconnects automatically.
    while ((await server.client.keys('*:e')).length === 0) await wake('e');
    await queues.close();
    await backend.close();
    await server[Symbol.asyncDispose]();
  });
});
