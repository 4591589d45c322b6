/**
 * Throw-away Redis servers for tests, real ones. Where none is installed their tests are skipped with
 * a line that says so, and fail with CI set.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { describe } from 'vitest';
import { endRedis, freePort, launchRedis } from '../../bench/servers/redis-process.ts';

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
  /** For commands of the test itself. */
  client: Redis;
  /** Ends the server at once; its data is lost. */
  kill(): Promise<void>;
  /** Starts it again, empty, on the same port. */
  start(): Promise<void>;
  /** Keeps it from answering, with its connections open; `thaw` ends that. */
  freeze(): void;
  thaw(): void;
}

/** Starts a server on a free port. `settings` are words of its command line. */
export async function startRedis(settings: string[] = []): Promise<TestRedis> {
  const folder = await mkdtemp(path.join(tmpdir(), 'enrich-redis-'));
  const port = await freePort();
  const words = ['--save', '', '--appendonly', 'no', ...settings];
  let server = await launchRedis(port, folder, words);
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 20 });
  // A server that is killed on purpose is no news.
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
