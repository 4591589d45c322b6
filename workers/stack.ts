/**
 * The whole service on one machine: the database (embedded unless DATABASE_URL names one), the API and
 * the workers as child processes. `up.json` in the data folder has its addresses for other commands.
 */
import { rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { closeDataFolder, makeDataFolder } from '../infra/embedded/private-folder.ts';
import { readFolderIdentity, readProcessStart } from '../infra/embedded/process-identity.ts';
import { type Config, environmentWith } from '../src/core/config.ts';
import { must } from '../src/core/lib/assert.ts';
import { type AppError, conflict, unavailable } from '../src/core/lib/errors.ts';
import type { Log } from '../src/core/log.ts';
import { type UpFile, upFilePath } from './find-service.ts';
import { type KeptPostgres, keepPostgres } from './keep-postgres.ts';
import { migrateAll } from './migrate-all.ts';
import { type MetricsSource, serveStackMetrics } from './stack-metrics.ts';
import { type Ready, type Supervised, supervise } from './supervise.ts';

const UP_FILE_RETRY_MS = 1_000;
const FOLDER_CHECK_MS = 1_000;

export interface Stack {
  up: UpFile;
  /**
   * Resolves when the embedded database ended and cannot be started again, or when the data folder is not at its path any
   * more: `AppError` 503 `database_ended`, 409 `data_folder_moved`.
   */
  failed: Promise<AppError>;
  stop(): Promise<void>;
}

/** Starts everything and resolves once the API answers and the workers listen. */
export async function startStack(config: Config, workers: number, log: Log): Promise<Stack> {
  const postgres =
    config.databaseUrl === undefined ? await keepPostgres(config.dataDir, log) : null;
  const databaseUrl = config.databaseUrl ?? postgres?.url ?? '';
  try {
    await makeDataFolder(config.dataDir);
    await closeDataFolder(config.dataDir, (line) => log.warn(line));
    await migrateAll(databaseUrl);
    return await startProcesses(config, workers, log, databaseUrl, postgres);
  } catch (error) {
    await postgres?.stop();
    throw error;
  }
}

async function startProcesses(
  config: Config,
  workers: number,
  log: Log,
  databaseUrl: string,
  postgres: KeptPostgres | null,
): Promise<Stack> {
  const { dataDir, logLevel } = config;
  const port = String(config.port);
  // Only `up` answers at the address of the metrics, for all of its processes.
  const own = { metricsPort: '0', metricsHost: '127.0.0.1' };
  const environment = environmentWith({ databaseUrl, dataDir, logLevel, port, ...own });
  const up = await describeUp(dataDir, databaseUrl, postgres);
  const running: Supervised[] = [];
  const sources: MetricsSource[] = [];
  const metrics = await serveStackMetrics(config, sources);
  up.metrics_url = metrics.url;
  const upFile = keepUpFile(upFilePath(config), up, log);
  const moved = watchFolder(dataDir, up.folder);
  const stop = async () => {
    moved.stop();
    // At the path of a folder that was moved may be the file of another service.
    if (await isAt(dataDir, up.folder)) await upFile.remove();
    metrics.server.close();
    await Promise.all(running.map((one) => one.stop()));
    await postgres?.stop();
  };
  try {
    const api: MetricsSource = { kind: 'api', number: 1, url: null };
    sources.push(api);
    let isStarted = false;
    const onApi = async (pid: number, ready: Ready) => {
      up.pids.api = pid;
      up.url = ready.url ?? up.url;
      api.url = ready.metricsUrl ?? null;
      // A restarted API must come back to the port that its clients know.
      environment.PORT = new URL(up.url).port;
      if (isStarted) upFile.update();
      else await upFile.create();
      isStarted = true;
    };
    for (let index = 0; index < workers; index++) {
      const worker: MetricsSource = { kind: 'worker', number: index + 1, url: null };
      sources.push(worker);
      const onWorker = async (pid: number, ready: Ready) => {
        up.pids.workers[index] = pid;
        worker.url = ready.metricsUrl ?? null;
        upFile.update();
      };
      running.push(await supervise('worker', environment, log, onWorker));
    }
    // Last: the service is ready when it answers.
    running.push(await supervise('api', environment, log, onApi));
  } catch (error) {
    await stop();
    throw error;
  }
  const followDatabase = async ({ url, pid }: { url: string; pid: number }) => {
    up.pids.postgres = pid;
    if (url !== up.database_url) {
      // Another program took the port in between: all processes start again with the new address.
      up.database_url = url;
      Object.assign(environment, environmentWith({ databaseUrl: url }, environment));
      for (const { restart } of running) restart();
    }
    upFile.update();
  };
  if (postgres === null) return { up, failed: new Promise(() => {}), stop };
  const failed = Promise.race([
    postgres.watch(followDatabase).then(databaseEnded),
    moved.happened.then(async () => {
      // At once, as after a crash: what they still wrote would be in the wrong folder.
      await Promise.all(running.map((one) => one.stop('SIGKILL')));
      return dataFolderMoved(dataDir);
    }),
  ]);
  return { up, failed, stop };
}

/** `happened` resolves once the path is not that of the folder: the database stays in it, but files are written at the path. */
function watchFolder(dataDir: string, folder: string) {
  let timer: NodeJS.Timeout | undefined;
  const happened = new Promise<void>((resolve) => {
    timer = setInterval(async () => {
      if (!(await isAt(dataDir, folder))) resolve();
    }, FOLDER_CHECK_MS);
  });
  return { happened, stop: () => clearInterval(timer) };
}

/** True also when the path cannot be read: only a missing or another folder is one that was moved. */
async function isAt(dataDir: string, folder: string): Promise<boolean> {
  try {
    return (await readFolderIdentity(dataDir)) === folder;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

function dataFolderMoved(dataDir: string): AppError {
  return conflict(
    'data_folder_moved',
    `The data folder ${dataDir} was moved, replaced or deleted while the service ran, so the service was stopped. ` +
      'Start it again with the path where the folder is now.',
  );
}

function databaseEnded(reason: string): AppError {
  return unavailable('database_ended', `The embedded database ended: ${reason}`);
}

async function describeUp(
  dataDir: string,
  databaseUrl: string,
  postgres: KeptPostgres | null,
): Promise<UpFile> {
  return {
    url: '',
    metrics_url: '',
    database_url: databaseUrl,
    pids: { up: process.pid, api: 0, workers: [], postgres: postgres?.pid ?? null },
    started: must(await readProcessStart(process.pid), 'own process'),
    folder: await readFolderIdentity(dataDir),
  };
}

/** Keeps the file as `up` is from `create` to `remove`. Updates before it and after it do nothing. */
function keepUpFile(file: string, up: UpFile, log: Log) {
  let state: 'starting' | 'ready' | 'stopping' = 'starting';
  let written = Promise.resolve();
  // A full disk is retried and never waited for: processes must not depend on this file.
  const write = async () => {
    while (state === 'ready') {
      try {
        return await writeUpFile(file, up);
      } catch (error) {
        log.warn({ err: error }, 'up.json cannot be written, retrying');
        await delay(UP_FILE_RETRY_MS);
      }
    }
  };
  return {
    async create() {
      await writeUpFile(file, up);
      state = 'ready';
    },
    update() {
      written = written.then(write);
    },
    async remove() {
      state = 'stopping';
      await written;
      await rm(file, { force: true });
    },
  };
}

/** Replaces the file in one step, so that readers always get a whole one. */
async function writeUpFile(file: string, up: UpFile): Promise<void> {
  const fresh = `${file}.${process.pid}`;
  try {
    await writeFile(fresh, `${JSON.stringify(up)}\n`, { mode: 0o600 });
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}
