/** Queue and limits on a real Redis Cluster of three nodes. */
import type { Cluster } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisCluster } from '../../../bench/servers/redis-cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { describeWithRedis } from '../../../tests/support/redis-server.ts';
import { openRedisLimiter } from '../../core/limits/redis-limiter.ts';
import { createLog } from '../../core/log.ts';
import { checkRedis } from '../../core/redis/check-redis.ts';
import { connectRedis } from '../../core/redis/client.ts';
import { openRedisBackend } from './backend-redis.ts';
import { testQueues } from './queues.test-suite.ts';

const log = createLog('silent', 'test');

describeWithRedis('a cluster', () => {
  let cluster: RedisCluster;
  let database: TestDatabase;
  beforeAll(async () => {
    cluster = await RedisCluster.open({ hasReplicas: false });
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await database?.drop();
  });

  const setMemory = (bytes: string) =>
    Promise.all(cluster.nodes.map(({ client }) => client.config('SET', 'maxmemory', bytes)));

  testQueues(async () => ({
    backend: openRedisBackend({ url: cluster.url, prefix: 'test' }, log),
    lose: () => Promise.all(cluster.nodes.map(({ client }) => client.flushall())),
    refuse: () => setMemory('1mb'),
    obey: () => setMemory('0'),
    close: async () => {},
  }));

  test('jobs go on after the primary of their queue froze and its replica was promoted', async () => {
    await using replicated = await RedisCluster.open({ hasReplicas: true });
    const backend = openRedisBackend({ url: replicated.url, prefix: 'test' }, log);
    const queue = backend.openQueue('chunks');
    queue.on('error', () => {});
    const primary = await replicated.primaryOf(queue.toKey(''));
    const ran: string[] = [];
    const worker = backend.openWorker(
      'chunks',
      async ({ name }) => {
        ran.push(name);
        // The queue is never told that this job is done.
        if (name === 'first') primary.lose('freeze');
      },
      { concurrency: 1, runRetryDelay: 1_000 },
    );
    worker.on('error', () => {});
    await worker.waitUntilReady();
    await queue.add('first', {});
    await expect.poll(() => ran).toEqual(['first']);
    await replicated.failover(primary);
    const add = () =>
      queue.add('second', {}).then(
        () => true,
        () => false,
      );
    await expect.poll(add).toBe(true);
    await expect.poll(() => ran).toContain('second');
    await primary.giveBack('freeze');
    await backend.close();
  });

  test('checks the limits of many keys on all nodes in one call', async () => {
    await checkRedis(cluster.url, log);
    const redis = connectRedis(cluster.url, 'limits', log);
    await new Promise((resolve) => redis.once('ready', resolve));
    // Limits are decided without Redis when it is slow, as connecting to a node may be.
    await Promise.all((redis as Cluster).nodes('master').map((node) => node.ping()));
    const warned: unknown[] = [];
    const heard = { warn: (...words: unknown[]) => warned.push(words), info: () => {} };
    const limiter = openRedisLimiter(
      { redis, sql: database.sql, log: heard as unknown as typeof log },
      { prefix: 'test', processes: 1 },
    );
    const keys = Array.from({ length: 60 }, () => ({
      requestsOf: crypto.randomUUID(),
      requestsPerMinute: 2,
      requestsPerDay: 100,
    }));
    const answers = await limiter.takeRequests([...keys, ...keys, ...keys]);
    expect(answers.map(({ admitted }) => admitted)).toEqual(
      answers.map((_answer, index) => index < 120),
    );
    expect(warned).toEqual([]);
    const stored = await Promise.all(
      cluster.nodes.map(({ client }) => client.keys('test:limit:*')),
    );
    // A bucket and a day for each key, spread over all nodes.
    expect(stored.flat()).toHaveLength(120);
    expect(stored.every((names) => names.length > 0)).toBe(true);
    redis.disconnect();
  });
});
