/**
 * Real, throw-away Redis servers for tests. Without Redis installed their tests are skipped with a message, and
 * fail when CI is set.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { describe } from 'vitest';
import { freePort } from '../../bench/servers/free-port.ts';
import { endRedis, launchRedis } from '../../bench/servers/redis-process.ts';

const isInstalled = spawnSync('redis-server', ['--version']).status === 0;
if (!isInstalled && process.env.CI) {
  throw new Error('redis-server not found: install it, CI must not skip these tests');
}
if (!isInstalled) process.stderr.write('skipped: redis-server not found\n');

/** `describe` for tests that start a server. */
export const describeWithRedis = isInstalled ? describe : describe.skip;

export interface TestRedis extends AsyncDisposable {
  url: string;
  port: number;
  /** For the test's own commands. */
  client: Redis;
  /** Kills the server at once; its data is lost. */
  kill(): Promise<void>;
  /** Restarts it, empty, on the same port. */
  start(): Promise<void>;
  /** Makes it unresponsive with its connections open, until `thaw`. */
  freeze(): void;
  thaw(): void;
}

/** Starts a server on a free port. `settings` are command-line arguments. */
export async function startRedis(settings: string[] = []): Promise<TestRedis> {
  const folder = await mkdtemp(path.join(tmpdir(), 'enrich-redis-'));
  const port = await freePort();
  const words = ['--save', '', '--appendonly', 'no', ...settings];
  let server = await launchRedis(port, folder, words);
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 20 });
  // Ignores errors of a server killed on purpose.
  client.on('error', () => {});
  const kill = () => endRedis(server);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    client,
    kill,
    async start() {
      server = await launchRedis(port, folder, words);
    },
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      client.disconnect();
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
