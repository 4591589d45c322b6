import type { Cluster } from 'ioredis';
/** Queue and limits on a real Redis Cluster of three nodes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { startRedisCluster, type TestCluster } from '../../../tests/support/redis-cluster.ts';
import { describeWithRedis } from '../../../tests/support/redis-server.ts';
import { openRedisLimiter } from '../../core/limits/redis-limiter.ts';
import { createLog } from '../../core/log.ts';
import { checkRedis } from '../../core/redis/check-redis.ts';
import { connectRedis } from '../../core/redis/client.ts';
import { openRedisBackend } from './backend-redis.ts';
import { testQueues } from './queues.test-suite.ts';

const log = createLog('silent', 'test');

describeWithRedis('a cluster', () => {
  let cluster: TestCluster;
  let database: TestDatabase;
  beforeAll(async () => {
    cluster = await startRedisCluster();
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await database?.drop();
  });

  testQueues(async () => ({
    backend: openRedisBackend({ url: cluster.url, prefix: 'test' }, log),
    lose: () => Promise.all(cluster.nodes.map(({ client }) => client.flushall())),
    close: async () => {},
  }));

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
