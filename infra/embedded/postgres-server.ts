/** Starts the server process on a prepared cluster, waits until it responds, and stops it. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { must } from '../../src/core/lib/assert.ts';
import { unavailable } from '../../src/core/lib/errors.ts';
import type { PostgresCluster } from './postgres-cluster.ts';
import { writeCredentials } from './postgres-credentials.ts';
import { askServer } from './postgres-readiness.ts';
import { ADMIN_ROLE } from './postgres-roles.ts';
import { defaultSettings, readMachine } from './postgres-settings.ts';
import { openServerLog } from './server-log.ts';
import { runTied, spawnTied } from './tied-process.ts';

/** Maximum duration of fast shutdown before immediate shutdown, and of that before SIGKILL. */
const FAST_SHUTDOWN_MS = 15_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;

const READINESS_POLL_MS = 20;
/** A long recovery reports progress regularly; it has no limit while it does. */
const RECOVERY_NOTICE_MS = 5_000;

/** Time that processes of a killed server may continue, and number of replacements of a lost port. */
const LEFTOVER_WAIT_MS = 15_000;
const LEFTOVER_POLL_MS = 200;
const PORT_ATTEMPTS_MAX = 5;

/** Processes that outlive a server may hold its output open; they are not waited for. */
const LAST_WORDS_MS = 1_000;

export interface RunningServer {
  port: number;
  pid: number;
  /** Resolves with how it ended, requested or not; never rejects. */
  ended: Promise<string>;
  isStopping(): boolean;
  stop(): Promise<void>;
}

interface StartOptions {
  cluster: PostgresCluster;
  dataDir: string;
  log: (line: string) => void;
  settings: Record<string, string>;
}

/**
 * Starts the server on its last port, or on another when that is in use; the port is stored in the credentials
 * file. Throws `AppError` `embedded_postgres_failed` with the server's last output.
 */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const { cluster, dataDir, log } = options;
  const { credentials } = cluster;
  const build = { hasLz4: await buildHasLz4(cluster) };
  const settings = { ...defaultSettings(await readMachine(), build), ...options.settings };
  const leftoverDeadline = Date.now() + LEFTOVER_WAIT_MS;
  for (let portAttempts = 1; ; ) {
    const port = await choosePort(credentials.port);
    if (port !== credentials.port) {
      credentials.port = port;
      await writeCredentials(dataDir, credentials);
    }
    const server = spawnServer(cluster, path.join(dataDir, 'postgres.log'), settings, log);
    const failure = await waitUntilReady(server, cluster, log);
    if (failure === null) return server;

    if (
      failure.includes('could not create any TCP/IP sockets') &&
      portAttempts < PORT_ATTEMPTS_MAX
    ) {
      portAttempts += 1;
      credentials.port = null;
    } else if (isHeldByLeftovers(failure) && Date.now() < leftoverDeadline) {
      await delay(LEFTOVER_POLL_MS);
    } else {
      throw unavailable('embedded_postgres_failed', `PostgreSQL does not start. ${failure}`);
    }
  }
}

/** Children of a killed server may finish their work before they notice. */
function isHeldByLeftovers(failure: string): boolean {
  return failure.includes('pre-existing shared memory block');
}

async function buildHasLz4({ launcher, binaries, dataFolder }: PostgresCluster): Promise<boolean> {
  const words = ['-D', dataFolder, '-c', 'wal_compression=lz4', '-C', 'wal_compression'];
  return (await runTied(launcher, [binaries.postgres, ...words])).code === 0;
}

/** Returns the wanted port of 127.0.0.1 when it is free, otherwise a free one chosen by the system. */
async function choosePort(wanted: number | null): Promise<number> {
  if (wanted !== null && (await listenOnce(wanted)) !== null) return wanted;
  return must(await listenOnce(0), 'a free port');
}

/** Listens on the port and stops again; null when it is in use. 0 for one chosen by the system. */
async function listenOnce(port: number): Promise<number | null> {
  const server = createServer();
  server.listen({ port, host: '127.0.0.1', exclusive: true });
  try {
    await once(server, 'listening');
  } catch {
    return null;
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : null;
}

function spawnServer(
  { launcher, binaries, dataFolder, credentials }: PostgresCluster,
  logFile: string,
  settings: Record<string, string>,
  log: (line: string) => void,
): RunningServer {
  const port = must(credentials.port, 'a port');
  const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = [binaries.postgres, '-D', dataFolder, '-p', String(port), ...words];
  const child = spawnTied(launcher, command);
  child.stdin?.on('error', () => {}).end();
  const serverLog = openServerLog(logFile, log);
  const outputs = [child.stdout, child.stderr].flatMap((stream) => stream ?? []);
  const said = Promise.all(outputs.map(serverLog.follow));
  // Rejects when there is nothing to spawn, which the launcher's own probe makes unlikely.
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const ended = exit.then(
    async ([code, signal]) => {
      const how = signal === null ? `with exit code ${code}` : `by signal ${signal}`;
      await Promise.race([said, delay(LAST_WORDS_MS, undefined, { ref: false })]);
      for (const output of outputs) output.destroy();
      return `PostgreSQL ended ${how}; its log ${logFile} ends: ${serverLog.tail()}`;
    },
    (error: unknown) => `PostgreSQL cannot be run: ${String(error)}`,
  );
  let stopping = false;
  const stop = async () => {
    stopping = true;
    child.kill('SIGINT');
    if (await endsWithin(ended, FAST_SHUTDOWN_MS)) return;
    child.kill('SIGQUIT');
    if (await endsWithin(ended, IMMEDIATE_SHUTDOWN_MS)) return;
    child.kill('SIGKILL');
    await ended;
  };
  return { port, pid: child.pid ?? 0, ended, isStopping: () => stopping, stop };
}

async function endsWithin(ended: Promise<string>, limitMs: number): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(limitMs, false, { signal: timer.signal }).catch(() => false);
  const inTime = await Promise.race([ended.then(() => true), late]);
  timer.abort();
  return inTime;
}

/** Returns null when the server responds, otherwise how it ended. Stops a server that cannot be used. */
async function waitUntilReady(
  server: RunningServer,
  { credentials, dataFolder }: PostgresCluster,
  log: (line: string) => void,
): Promise<string | null> {
  const { password } = credentials;
  const state: { failure: string | null } = { failure: null };
  void server.ended.then((reason) => {
    state.failure = reason;
  });
  let noticeAt = Date.now() + RECOVERY_NOTICE_MS;
  try {
    while (!(await askServer({ port: server.port, role: ADMIN_ROLE, password, dataFolder }))) {
      await Promise.race([server.ended, delay(READINESS_POLL_MS)]);
      if (state.failure !== null) return state.failure;
      if (Date.now() < noticeAt) continue;
      log('PostgreSQL is not ready yet. After a crash it first recovers committed data.');
      noticeAt = Date.now() + RECOVERY_NOTICE_MS;
    }
    return null;
  } catch (error) {
    await server.stop();
    throw error;
  }
}
