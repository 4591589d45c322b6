/** Resources of a process, opened once and closed once. Features take narrow parts of it. */
import type { Config } from './config.ts';
import { connect, type Database, type GraphSchema } from './db/client.ts';
import { type PoolUse, poolSettings } from './db/pool-settings.ts';
import { watchServers } from './db/watch-servers.ts';
import { type LocalCopy, openLocalCopy } from './graph-copy/local-copy.ts';
import { copyFolder } from './graph-copy/manifest.ts';
import { readInProcess } from './graph-copy/read-in-process.ts';
import { readInThread } from './graph-copy/read-in-thread.ts';
import type { Limiter } from './limits/limiter.ts';
import { openPostgresLimiter } from './limits/postgres-limiter.ts';
import { openRedisLimiter } from './limits/redis-limiter.ts';
import { createLog, type Log } from './log.ts';
import type { RedisClient } from './redis/client.ts';
import { openFileStore } from './storage/file-store.ts';
import { measureStore } from './storage/measured-store.ts';
import type { ObjectStore } from './storage/object-store.ts';
import type { StorageConfig } from './storage-config.ts';

export interface Context extends AsyncDisposable {
  log: Log;
  /** Unqualified graph tables refer to the live graph. */
  sql: Database;
  /** Unqualified graph tables refer to the graph of test keys. */
  testSql: Database;
  /** The same two for person search: statements have a timeout and are planned for their values. */
  searchSql: Database;
  testSearchSql: Database;
  /**
   * One connection outside the pools, for operators' queries and for cancelling: it works while the pools are
   * busy.
   */
  watchSql: Database;
  store: ObjectStore;
  limiter: Limiter;
  /** The copy of the live graph on this machine. */
  localCopy: LocalCopy;
}

/** An operator's query must not burden a database that is already in trouble. */
const WATCH_MS_MAX = 2_000;

/** Opens the context of a process. The database must be migrated. */
export async function openContext(
  config: Config,
  databaseUrl: string,
  process: string,
): Promise<Context> {
  const log = createLog(config.logLevel, process);
  const settings = poolSettings(config);
  const servers = watchServers(databaseUrl);
  if (servers !== null) servers.log = log;
  const open = (use: PoolUse, graph: GraphSchema) =>
    connect({ ...settings[use], url: databaseUrl, graph });
  const sql = open('any', 'graph');
  const testSql = open('any', 'graph_test');
  const searchSql = open('searches', 'graph');
  const testSearchSql = open('searches', 'graph_test');
  const watchSql = connect({
    ...settings.any,
    url: databaseUrl,
    connections: 1,
    statementTimeoutMs: WATCH_MS_MAX,
  });
  const { redisUrl, redisPrefix: prefix, apiProcesses: processes } = config;
  const openReader = process === 'api' ? readInProcess : readInThread;
  const localCopy = openLocalCopy(copyFolder(config.dataDir), log, openReader);
  const redis = redisUrl === undefined ? null : await openRedis(redisUrl, log);
  return {
    log,
    sql,
    testSql,
    searchSql,
    testSearchSql,
    watchSql,
    store: await openStore(config.storage),
    limiter: redis
      ? openRedisLimiter({ redis, sql, log }, { prefix, processes })
      : openPostgresLimiter(sql),
    localCopy,
    async [Symbol.asyncDispose]() {
      redis?.disconnect();
      localCopy.close();
      const pools = [sql, testSql, searchSql, testSearchSql, watchSql];
      await Promise.all(pools.map((pool) => pool.end({ timeout: 5 })));
    },
  };
}

/** Loaded only where it is used: a command starts a tenth of a second earlier without it. */
async function openRedis(url: string, log: Log): Promise<RedisClient> {
  const { connectRedis } = await import('./redis/client.ts');
  return connectRedis(url, 'limits', log);
}

/** Opens the object store of a configuration. */
export async function openStore(storage: StorageConfig): Promise<ObjectStore> {
  if (storage.provider !== 's3') return measureStore(openFileStore(storage.folder));
  // Loaded only here: the SDK takes a tenth of the memory of an idle process.
  const { openS3Store } = await import('./storage/s3-store.ts');
  return measureStore(openS3Store(storage));
}
