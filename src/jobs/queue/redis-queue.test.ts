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
