/**
 * The servers of a production stack except Postgres, each a separate process, empty at its start: Redis as
 * docs/operations.md requires it, and an S3 server.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import type { OptionTexts } from '../src/core/config.ts';
import { freePort } from './servers/free-port.ts';
import { endRedis, launchRedis } from './servers/redis-process.ts';
import { type S3Process, startS3Process } from './servers/s3-server.ts';

export interface ProductionServers extends AsyncDisposable {
  /** Config options for the service to use them. */
  options: OptionTexts;
  pids: number[];
  s3: S3Process;
  /** Numbers of keys in Redis, and of commands that it received. */
  redisUse(): Promise<{ keys: number; commands: number }>;
}

export async function startProductionServers(): Promise<ProductionServers> {
  const folder = await mkdtemp(path.join(tmpdir(), 'enrich-bench-redis-'));
  const port = await freePort();
  const settings = ['--appendonly', 'yes', '--maxmemory-policy', 'noeviction', '--save', ''];
  const redis = await launchRedis(port, folder, settings);
  const s3 = await startS3Process();
  const client = new Redis(port, '127.0.0.1');
  return {
    options: { redisUrl: `redis://127.0.0.1:${port}`, ...s3.options },
    pids: [redis.pid ?? 0, s3.pid],
    s3,
    async redisUse() {
      const stats = await client.info('stats');
      const commands = Number(/^total_commands_processed:(\d+)/m.exec(stats)?.[1]);
      return { keys: await client.dbsize(), commands };
    },
    async [Symbol.asyncDispose]() {
      client.disconnect();
      await s3[Symbol.asyncDispose]();
      await endRedis(redis);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
