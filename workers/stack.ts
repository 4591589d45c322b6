/**
 * The whole service on one machine: the database (embedded unless DATABASE_URL names one), the API and
 * the workers as child processes. `up.json` in the data folder tells others where it is.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../infra/embedded/embedded-postgres.ts';
import { type Config, environmentWith } from '../src/core/config.ts';
import { connect } from '../src/core/db/client.ts';
import { migrate } from '../src/core/db/migrate.ts';
import type { Log } from '../src/core/log.ts';
import { migrateQueue } from '../src/jobs/queue/backend.ts';

const RESTART_AFTER_MS = 500;

/** What `up.json` holds. */
export interface UpFile {
  url: string;
  metrics_url: string;
  database_url: string;
  pids: { up: number; api: number; workers: number[]; postgres: number | null };
}

export interface Stack {
  up: UpFile;
  /** Resolves when the database ended without being asked. */
  failed: Promise<string>;
  stop(): Promise<void>;
}

export function upFilePath(config: Config): string {
  return path.join(config.dataDir, 'up.json');
}

/** Starts everything and resolves once the API answers and the workers listen. */
export async function startStack(config: Config, workers: number, log: Log): Promise<Stack> {
  const postgres =
    config.databaseUrl === undefined
      ? await startEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) })
      : null;
  const databaseUrl = config.databaseUrl ?? postgres?.url ?? '';
  try {
    await migrateAll(databaseUrl);
    return await startProcesses(config, workers, log, databaseUrl, postgres);
  } catch (error) {
    await postgres?.stop();
    throw error;
  }
}

/** Brings the schema of the service and of its queue up to date. Returns what was applied. */
export async function migrateAll(databaseUrl: string): Promise<string[]> {
  const sql = connect({ url: databaseUrl, connections: 1 });
  try {
    const applied = await migrate(sql);
    await migrateQueue(databaseUrl);
    return applied;
  } finally {
    await sql.end();
  }
}

async function startProcesses(
  config: Config,
  workers: number,
  log: Log,
  databaseUrl: string,
  postgres: { pid: number; exited: Promise<string>; stop(): Promise<void> } | null,
): Promise<Stack> {
  const upFile = upFilePath(config);
  const { dataDir, logLevel } = config;
  const port = String(config.port);
  const environment = environmentWith({ databaseUrl, dataDir, logLevel, port });
  const write = (up: UpFile) => writeFile(upFile, `${JSON.stringify(up)}\n`, { mode: 0o600 });
  const up: UpFile = {
    url: '',
    metrics_url: '',
    database_url: databaseUrl,
    pids: { up: process.pid, api: 0, workers: [], postgres: postgres?.pid ?? null },
  };
  const api = await supervise('api', environment, log, async (pid, ready) => {
    up.pids.api = pid;
    up.url = ready.url ?? up.url;
    up.metrics_url = ready.metricsUrl ?? up.metrics_url;
    // A restarted API must come back to the port that its clients know.
    environment.PORT = new URL(up.url).port;
    if (up.pids.workers.length === workers) await write(up);
  });
  const working: Supervised[] = [];
  for (let index = 0; index < workers; index++) {
    working.push(
      await supervise('worker', environment, log, async (pid) => {
        up.pids.workers[index] = pid;
        if (up.pids.workers.length === workers) await write(up);
      }),
    );
  }
  await write(up);
  return {
    up,
    failed: postgres?.exited ?? new Promise<string>(() => {}),
    async stop() {
      await rm(upFile, { force: true });
      await Promise.all([api.stop(), ...working.map((worker) => worker.stop())]);
      await postgres?.stop();
    },
  };
}

interface Supervised {
  stop(): Promise<void>;
}

type Ready = Record<string, string | undefined>;

/** Runs a process and starts it again whenever it ends; resolves when it is ready for the first time. */
async function supervise(
  name: 'api' | 'worker',
  environment: NodeJS.ProcessEnv,
  log: Log,
  onReady: (pid: number, ready: Ready) => Promise<void>,
): Promise<Supervised> {
  let stopping = false;
  let child = await launch(name, environment, onReady);
  const keepRunning = async () => {
    while (true) {
      await ended(child);
      if (stopping) return;
      log.warn({ process: name, pid: child.pid }, 'process ended, starting it again');
      // A process that ends at once must not be started in a tight loop.
      await setTimeout(RESTART_AFTER_MS);
      if (stopping) return;
      try {
        child = await launch(name, environment, onReady);
      } catch (error) {
        log.error({ err: error, process: name }, 'process did not start');
      }
    }
  };
  const running = keepRunning();
  return {
    async stop() {
      stopping = true;
      child.kill('SIGTERM');
      await running;
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function launch(
  name: 'api' | 'worker',
  environment: NodeJS.ProcessEnv,
  onReady: (pid: number, ready: Ready) => Promise<void>,
): Promise<ChildProcess> {
  const entry = path.join(import.meta.dirname, `${name}.js`);
  const child = fork(entry, { env: environment, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ready = await Promise.race([
    once(child, 'message').then(([message]) => (message as { ready: Ready }).ready),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the ${name} process ended with code ${code} before it was ready`);
    }),
  ]);
  await onReady(child.pid ?? 0, ready);
  return child;
}
