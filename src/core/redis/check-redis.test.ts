import { expect, test } from 'vitest';
import { freePort } from '../../../bench/servers/free-port.ts';
import { describeWithRedis, startRedis } from '../../../tests/support/redis-server.ts';
import { createLog } from '../log.ts';
import { checkRedis, checkServer } from './check-redis.ts';

const log = createLog('silent', 'test');

function warnings() {
  const logged: unknown[] = [];
  return { logged, warn: (...words: unknown[]) => void logged.push(words) };
}

test.each(['allkeys-lru', 'volatile-ttl'])('refuses a Redis that may evict (%s)', (policy) => {
  const info = `redis_version:7.0.15\r\nmaxmemory_policy:${policy}\r\n`;
  const check = () => checkServer({ name: 'cache:6379', info }, log);
  expect(check).toThrow(expect.objectContaining({ code: 'redis_may_evict' }));
  expect(check).toThrow(/cache:6379 .*`maxmemory-policy noeviction`/);
});

test.each(['5.0.14', '6.0.16'])('refuses Redis %s, which is too old', (version) => {
  const info = `redis_version:${version}\r\nmaxmemory_policy:noeviction\r\n`;
  expect(() => checkServer({ name: 'old:6379', info }, log)).toThrow(
    expect.objectContaining({ code: 'redis_too_old' }),
  );
});

test.each(['6.2.0', '7.2.4', '10.1.0'])('accepts version %s', (version) => {
  const warned = warnings();
  const info = `redis_version:${version}\r\nmaxmemory_policy:noeviction\r\n`;
  checkServer({ name: 'new:6379', info }, warned as unknown as typeof log);
  expect(warned.logged).toEqual([]);
});

test('warns of a Redis that does not report its eviction policy', () => {
  const warned = warnings();
  const info = 'redis_version:7.0.15\r\n';
  checkServer({ name: 'managed:6379', info }, warned as unknown as typeof log);
  expect(warned.logged).toHaveLength(1);
});

test('a Redis that does not respond is named without its password', async () => {
  const port = await freePort();
  const check = checkRedis(`redis://me:hush@127.0.0.1:${port}`, log);
  await expect(check).rejects.toThrow(expect.objectContaining({ code: 'redis_unreachable' }));
  await expect(check).rejects.toThrow(`127.0.0.1:${port}`);
  await expect(check).rejects.not.toThrow('hush');
});

describeWithRedis('a real server', () => {
  test('is accepted as it comes, and refused once it may evict', async () => {
    await using server = await startRedis();
    await checkRedis(server.url, log);
    await server.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await expect(checkRedis(server.url, log)).rejects.toThrow('allkeys-lru');
  });

  test('is checked when the command CONFIG is forbidden', async () => {
    await using server = await startRedis(['--rename-command', 'CONFIG', '']);
    await checkRedis(server.url, log);
  });
});
