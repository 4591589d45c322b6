import { expect, test, vi } from 'vitest';
import { createTestDatabase } from '../../../tests/support/database.ts';
import { describeWithRedis, startRedis } from '../../../tests/support/redis-server.ts';
import { createAccount } from '../accounts/accounts.ts';
import { createKey } from '../keys/keys.ts';
import { createLog } from '../log.ts';
import { connectRedis } from '../redis/client.ts';
import { type LimiterHarness, testLimiter } from './limiter.test-suite.ts';
import { openRedisLimiter } from './redis-limiter.ts';

const log = createLog('silent', 'test');

describeWithRedis('limits in Redis', () => {
  testLimiter(async ({ sql }) => {
    const server = await startRedis();
    const redis = connectRedis(server.url, 'limits', log);
    await new Promise((resolve) => redis.once('ready', resolve));
    const open = () => openRedisLimiter({ redis, sql, log }, { prefix: 'test', processes: 1 });
    const harness: LimiterHarness = {
      limiter: open(),
      async pass(owner, name, seconds) {
        const key = `test:limit:{${owner}}:${name}`;
        const fullAt = Number(await server.client.get(key)) - Math.ceil(seconds * 1_000_000);
        await server.client.set(key, fullAt, 'KEEPTTL');
        // A limiter that remembers the bucket would not accept it.
        harness.limiter = open();
      },
      async close() {
        redis.disconnect();
        await server[Symbol.asyncDispose]();
      },
    };
    return harness;
  });

  test('a process that was busy does not mistake its own slowness for the store’s', async () => {
    await using server = await startRedis();
    const redis = connectRedis(server.url, 'limits', log);
    await new Promise((resolve) => redis.once('ready', resolve));
    const database = await createTestDatabase();
    const heard = { warn: vi.fn(), info: vi.fn() };
    const limiter = openRedisLimiter(
      { redis, sql: database.sql, log: heard },
      { prefix: 'test', processes: 1 },
    );
    const bucket = { owner: crypto.randomUUID(), name: 'rows', perMinute: 60, cost: 1 };
    for (const turns of [0, 1, 2]) {
      const asked = limiter.takeTokens(bucket);
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      const busyUntil = performance.now() + 120;
      while (performance.now() < busyUntil);
      expect((await asked).remaining).toBe(59 - turns);
    }
    expect(heard.warn).not.toHaveBeenCalled();
    redis.disconnect();
    await database.drop();
  });

  test('tokens that a process returns are there for another one that saw the bucket without them', async () => {
    await using server = await startRedis();
    const redis = connectRedis(server.url, 'limits', log);
    await new Promise((resolve) => redis.once('ready', resolve));
    const database = await createTestDatabase();
    const open = () =>
      openRedisLimiter({ redis, sql: database.sql, log }, { prefix: 'test', processes: 1 });
    const [one, other] = [open(), open()];
    const bucket = { owner: crypto.randomUUID(), name: 'rows', perMinute: 60, cost: 600 };
    await one.takeTokens(bucket);
    expect(await other.takeTokens(bucket)).toMatchObject({ admitted: false });
    await one.takeTokens({ ...bucket, cost: -600 });
    expect(await other.takeTokens(bucket)).toMatchObject({ admitted: true });
    expect(await one.takeTokens(bucket)).toMatchObject({ admitted: false });
    await server.client.flushall();
    expect(await one.takeTokens(bucket)).toMatchObject({ admitted: false });
    redis.disconnect();
    await database.drop();
  });

  test.each(['9e300', 'inf', 'nan', 'rubbish', 'a hash', 'a text'])(
    'a key with %s in place of its value refuses no one for longer than the limit, and makes the store unavailable to no one',
    async (what) => {
      await using server = await startRedis();
      const redis = connectRedis(server.url, 'limits', log);
      await new Promise((resolve) => redis.once('ready', resolve));
      const database = await createTestDatabase();
      const heard = { warn: vi.fn(), info: vi.fn() };
      const open = () =>
        openRedisLimiter(
          { redis, sql: database.sql, log: heard },
          { prefix: 'test', processes: 1 },
        );
      const accountId = await createAccount(database.sql, { name: 'A', credits: 0 });
      const { id: owner } = await createKey(database.sql, { accountId, mode: 'live' });
      const key = { requestsOf: owner, requestsPerMinute: 60, requestsPerDay: 100 };
      const bucket = { owner, name: 'rows', perMinute: 60, cost: 1 };
      await open().takeRequests([key]);
      await open().takeTokens(bucket);
      const { client } = server;
      for (const name of await client.keys('test:limit:*')) {
        const isDay = name.endsWith(':day');
        if (isDay && what !== 'a text') {
          await client.hset(name, 'left', what === '9e300' ? 'x' : what);
          continue;
        }
        await client.del(name);
        if (what === 'a hash') await client.hset(name, 'a', 'b');
        else await client.set(name, what);
      }
      // Processes that have seen nothing before.
      expect(await open().takeTokens(bucket)).toMatchObject({ admitted: true });
      expect(await open().takeRequests([key])).toMatchObject([{ admitted: true }]);
      expect(heard.warn).not.toHaveBeenCalled();
      redis.disconnect();
      await database.drop();
    },
  );
});
