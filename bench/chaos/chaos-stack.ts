/**
 * The whole service in real processes: API, workers, Postgres, with or without Redis and S3, in its own folder,
 * with a proxy on every connection between them.
 */
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, statfs } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../infra/embedded/embedded-postgres.ts';
import { generateGraph } from '../../samples/generate/generate-graph.ts';
import { environmentWithOnly, type OptionTexts } from '../../src/core/config.ts';
import { connect, type Database } from '../../src/core/db/client.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { openFileStore } from '../../src/core/storage/file-store.ts';
import type { ObjectStore } from '../../src/core/storage/object-store.ts';
import { openS3Store } from '../../src/core/storage/s3-store.ts';
import type { AuditCheck } from '../../src/jobs/audit/audit.ts';
import { migrateAll } from '../../workers/migrate-all.ts';
import { freePort } from '../servers/free-port.ts';
import { endRedis, launchRedis } from '../servers/redis-process.ts';
import { startS3Process } from '../servers/s3-server.ts';
import { dropQueueSchema } from './chaos.sql.ts';
import { Closers } from './closers.ts';
import type { History } from './history.ts';
import { type Drain, KeptProcess } from './kept-process.ts';
import { TcpProxy } from './tcp-proxy.ts';

const run = promisify(execFile);

export type Backend = 'embedded' | 'redis';

/** Small chunks: much is in flight at any moment, and a list takes a while. */
const CHUNK_ROWS = 100;
const GRAPH = { persons: 3_000, companies: 600, seed: 1 };
const FOLDER_MB = 1024;
const RESIZE_TRIES_MAX = 20;
const ASK_MS_MAX = 60_000;

export interface Processes {
  apis: KeptProcess[];
  workers: KeptProcess[];
  /** Base addresses of the APIs. */
  urls: string[];
}

export interface ChaosStack extends AsyncDisposable, Processes {
  /** Starts further processes, of the compiled version in the folder `code`. They are stopped with the others. */
  add(size: StackSize, code: string | undefined): Promise<Processes>;
  proxies: Record<string, TcpProxy>;
  /** The service's object store, without the proxies. */
  store: ObjectStore;
  /** Runs `work` on the database directly, retrying until it succeeds. */
  ask<T>(work: (sql: Database) => Promise<T>): Promise<T>;
  /** Kills Postgres at once, without a checkpoint, and restarts it after `awayMs`. */
  restartPostgres(awayMs: number): Promise<void>;
  /** Null without Redis. */
  restartRedis: ((awayMs: number) => Promise<void>) | null;
  /** Deletes everything in the queue. */
  loseQueue(): Promise<void>;
  /** `enrich audit --deep`, as an operator runs it: the rules and their violations. */
  audit(): Promise<AuditCheck[]>;
  /** Stops all processes; returns how each one ended. */
  stop(): Promise<Drain[]>;
  /** Number of processes that exited with a failure on their own. */
  crashes(): number;
  /** Fills the storage or frees it again; null where that is impossible. */
  fillStorage: ((isFull: boolean) => Promise<void>) | null;
}

export interface StackSize {
  apis: number;
  workers: number;
}

/** The database of a stack, on one server or several. */
export interface ServedDatabase {
  /** Its current address, without the proxies. */
  url(): string;
  /** The addresses for the processes. */
  addresses: { api: string; worker: string };
  restart: ChaosStack['restartPostgres'];
}

/** Opens the database of a stack; what it opens is closed with `opened`. */
export type OpenDatabase = (place: {
  dataDir: string;
  opened: Closers;
  /** Opens a proxy of this name, and returns its port. */
  line: (name: string, port: () => number) => Promise<number>;
}) => Promise<ServedDatabase>;

/** Redis of a stack, on one server or several. */
export interface ServedRedis {
  /** Its address for the processes. */
  url: string;
  restart: NonNullable<ChaosStack['restartRedis']>;
  /** Deletes everything. */
  flush(): Promise<void>;
}

/** Opens the Redis of a stack; what it opens is closed with `opened`. */
export type OpenRedis = (place: {
  folder: string;
  opened: Closers;
  /** Opens a proxy of this name, and returns its port. */
  line: (name: string, port: () => number) => Promise<number>;
}) => Promise<ServedRedis>;

/** Parts of a stack that are not always the same. */
export interface StackParts {
  openDatabase: OpenDatabase;
  openRedis: OpenRedis;
  /** Brings a new database up to date. */
  migrate(url: string): Promise<unknown>;
  /** Folder of the compiled version that the processes run; this one's by default. */
  code?: string;
}

/** Starts everything on a fresh graph; resolves when all processes are ready. */
export async function openChaosStack(
  backend: Backend,
  size: StackSize,
  history: History,
  parts: Partial<StackParts> = {},
): Promise<ChaosStack> {
  const opened = new Closers();
  try {
    const usual = { openDatabase: openOneServer, openRedis: openOneRedis, migrate: migrateAll };
    const all = { ...usual, ...parts };
    return await openIn(backend, size, history, opened, all);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function openIn(
  backend: Backend,
  size: StackSize,
  history: History,
  opened: Closers,
  { openDatabase, openRedis, migrate, code }: StackParts,
): Promise<ChaosStack> {
  const dataDir = path.join(history.folder, 'data');
  const objects = path.join(dataDir, 'objects');
  await mkdir(objects, { recursive: true });
  const fillStorage = backend === 'embedded' ? await mountFolder(objects, opened) : null;
  const proxies: Record<string, TcpProxy> = {};
  const line = async (name: string, port: () => number) => {
    const proxy = opened.use(await TcpProxy.open(port));
    proxies[name] = proxy;
    return proxy.port;
  };
  const postgres = await openDatabase({ dataDir, opened, line });
  const servers =
    backend === 'redis'
      ? await startServers(await openRedis({ folder: history.folder, opened, line }), line, opened)
      : null;
  const ask = <T>(work: (sql: Database) => Promise<T>) => askUntilItWorks(postgres.url(), work);
  await migrate(postgres.url());
  await ask((sql) => generateGraph(sql, GRAPH));

  const shared: OptionTexts = {
    dataDir,
    databaseConnections: '4',
    chunkRows: String(CHUNK_ROWS),
    accountChunksMax: '6',
    logLevel: 'info',
    apiProcesses: String(size.apis),
    ...servers?.options,
  };
  const { addresses } = postgres;
  const processes: KeptProcess[] = [];
  const add: ChaosStack['add'] = async (more, version) => {
    const numbered = { ...more, after: processes.length };
    const added = await prepareProcesses(numbered, shared, addresses, history, version);
    const own = [...added.apis, ...added.workers];
    processes.push(...own);
    await Promise.all(own.map((one) => one.start()));
    return added;
  };
  const stop = async () => {
    const drains = await Promise.all(processes.map((one) => one.stop()));
    return drains.filter((drain) => drain !== null);
  };
  opened.defer(stop);
  return {
    ...(await add(size, code)),
    add,
    proxies,
    store: servers?.store ?? openFileStore(objects),
    ask,
    restartPostgres: postgres.restart,
    restartRedis: servers?.restart ?? null,
    loseQueue: servers?.flush ?? (() => ask(dropQueueSchema)),
    fillStorage,
    audit: () => runAudit({ ...shared, databaseUrl: postgres.url() }),
    stop,
    crashes: () => processes.reduce((sum, { crashes }) => sum + crashes, 0),
    [Symbol.asyncDispose]: () => opened.close(),
  };
}

async function prepareProcesses(
  size: StackSize & { after: number },
  shared: OptionTexts,
  addresses: { api: string; worker: string },
  history: History,
  code: string | undefined,
): Promise<Processes> {
  const apis: KeptProcess[] = [];
  const urls: string[] = [];
  for (let number = 1; number <= size.apis; number++) {
    const port = String(await freePort());
    const options = { ...shared, databaseUrl: addresses.api, port };
    apis.push(new KeptProcess('api', `api-${size.after + number}`, options, history, code));
    urls.push(`http://127.0.0.1:${port}`);
  }
  const workers: KeptProcess[] = [];
  for (let number = 1; number <= size.workers; number++) {
    const options = { ...shared, databaseUrl: addresses.worker };
    workers.push(
      new KeptProcess('worker', `worker-${size.after + number}`, options, history, code),
    );
  }
  return { apis, workers, urls };
}

/** Postgres behind a proxy for each kind of process; it can be killed and restarted. */
const openOneServer: OpenDatabase = async ({ dataDir, opened, line }) => {
  const start = () => startEmbeddedPostgres({ dataDir });
  let current: EmbeddedPostgres = await start();
  opened.defer(() => current.stop());
  const through = async (name: string) => {
    const url = new URL(current.url);
    url.port = String(await line(name, () => Number(new URL(current.url).port)));
    return url.href;
  };
  return {
    url: () => current.url,
    addresses: {
      api: await through('api-postgres'),
      worker: await through('worker-postgres'),
    },
    async restart(awayMs: number) {
      process.kill(current.pid, 'SIGQUIT');
      await current.exited;
      await delay(awayMs);
      current = await start();
    },
  };
};

/** S3 behind a proxy, beside Redis. */
async function startServers(
  redis: ServedRedis,
  line: (name: string, port: () => number) => Promise<number>,
  opened: Closers,
) {
  const s3 = opened.use(await startS3Process());
  const s3Port = Number(new URL(s3.options.s3Endpoint ?? '').port);
  const options: OptionTexts = {
    ...s3.options,
    s3Endpoint: `http://127.0.0.1:${await line('s3', () => s3Port)}`,
    redisUrl: redis.url,
  };
  return { ...redis, options, store: openS3Store(s3.config) };
}

/** Redis behind a proxy; it can be killed and restarted on the same port. */
const openOneRedis: OpenRedis = async ({ folder, opened, line }) => {
  const port = await freePort();
  const files = path.join(folder, 'redis');
  await mkdir(files);
  const settings = ['--appendonly', 'yes', '--maxmemory-policy', 'noeviction', '--save', ''];
  const start = () => launchRedis(port, files, settings);
  let redis = await start();
  opened.defer(() => endRedis(redis));
  return {
    url: `redis://127.0.0.1:${await line('redis', () => port)}`,
    async restart(awayMs) {
      await endRedis(redis);
      await delay(awayMs);
      redis = await start();
    },
    async flush() {
      const client = new Redis(port, '127.0.0.1');
      await client.flushall();
      client.disconnect();
    },
  };
};

/**
 * Mounts an in-memory file system on a folder, whose size can be reduced. Null where that is not allowed: it
 * takes root on Linux.
 */
async function mountFolder(folder: string, opened: Closers): Promise<ChaosStack['fillStorage']> {
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${FOLDER_MB}m`, 'tmpfs', folder]);
  } catch {
    return null;
  }
  // Lazily: an open file must not prevent it. Also when the bench itself is stopped.
  const unmount = () => void spawnSync('umount', ['-l', folder]);
  process.once('exit', unmount);
  opened.defer(() => {
    process.off('exit', unmount);
    unmount();
  });
  const resize = (bytes: number) => run('mount', ['-o', `remount,size=${bytes}`, folder]);
  return async (isFull) => {
    for (let tries = 1; ; tries++) {
      const { blocks, bfree, bsize } = await statfs(folder);
      const used = Math.max(1, blocks - bfree) * bsize;
      try {
        await resize(isFull ? used : FOLDER_MB * 1024 * 1024);
        return;
      } catch (error) {
        // Resizing is refused when more was written since the size was read.
        if (tries === RESIZE_TRIES_MAX) throw error;
      }
    }
  };
}

/** The command fails when a rule is violated, but still prints the rules. */
async function runAudit(options: OptionTexts): Promise<AuditCheck[]> {
  const words = [path.join(packageRoot, 'dist', 'workers', 'cli.js'), 'audit', '--deep', '--json'];
  const env = environmentWithOnly({ ...options, logLevel: 'warn' });
  const said = run(process.execPath, words, { env }).catch((error: { stdout: string }) => error);
  return (JSON.parse((await said).stdout) as { checks: AuditCheck[] }).checks;
}

/** The bench's own connections last only one query: the server may be killed at any time. */
async function askUntilItWorks<T>(url: string, work: (sql: Database) => Promise<T>): Promise<T> {
  const deadline = Date.now() + ASK_MS_MAX;
  while (true) {
    // An import has its lock on one of them.
    const sql = connect({ url, connections: 2 });
    try {
      return await work(sql);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(250);
    } finally {
      await sql.end({ timeout: 5 }).catch(() => {});
    }
  }
}
