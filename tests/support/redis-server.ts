/**
 * Throw-away Redis servers for tests, real ones. Where none is installed their tests are skipped with
 * a line that says so, and fail with CI set.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { describe } from 'vitest';

const isInstalled = spawnSync('redis-server', ['--version']).status === 0;
if (!isInstalled && process.env.CI) {
  throw new Error('redis-server not found: install it, CI must not skip these tests');
}
if (!isInstalled) process.stderr.write('skipped: redis-server not found\n');

/** `describe` for tests that start a server. */
export const describeWithRedis = isInstalled ? describe : describe.skip;

/** Servers that a test has not ended; they end with this process. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const server of running) server.kill('SIGKILL');
});

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
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const never = ['--save', '', '--appendonly', 'no'];
  let server = await launch([...words, ...never, ...settings]);
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 20 });
  // A server that is killed on purpose is no news.
  client.on('error', () => {});
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    client,
    kill,
    async start() {
      server = await launch([...words, ...never, ...settings]);
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

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function launch(words: string[]): Promise<ChildProcess> {
  const server = spawn('redis-server', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(server);
  server.once('exit', () => running.delete(server));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('Ready to accept connections')) resolve();
    });
    server.once('exit', () => reject(new Error(`redis-server did not start:\n${said}`)));
  });
  return server;
}
