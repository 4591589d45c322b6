/** What a process needs, opened once and closed once. Features take narrow parts of it. */
import type { Config, StorageConfig } from './config.ts';
import { connect, type Database } from './db/client.ts';
import type { Limiter } from './limits/limiter.ts';
import { openPostgresLimiter } from './limits/postgres-limiter.ts';
import { openRedisLimiter } from './limits/redis-limiter.ts';
import { createLog, type Log } from './log.ts';
import { connectRedis } from './redis/client.ts';
import { openFileStore } from './storage/file-store.ts';
import type { ObjectStore } from './storage/object-store.ts';
import { openS3Store } from './storage/s3-store.ts';

export interface Context extends AsyncDisposable {
  log: Log;
  /** Unqualified graph tables are the live graph. */
  sql: Database;
  /** Unqualified graph tables are the graph of test keys. */
  testSql: Database;
  store: ObjectStore;
  limiter: Limiter;
}

/** Opens the context of a process on a database that is already migrated. */
export function openContext(config: Config, databaseUrl: string, process: string): Context {
  const log = createLog(config.logLevel, process);
  const connections = config.databaseConnections;
  const sql = connect({ url: databaseUrl, connections });
  const testSql = connect({ url: databaseUrl, connections, graph: 'graph_test' });
  const { redisUrl, redisPrefix: prefix, apiProcesses: processes } = config;
  const redis = redisUrl === undefined ? null : connectRedis(redisUrl, 'limits', log);
  return {
    log,
    sql,
    testSql,
    store: openStore(config.storage),
    limiter: redis
      ? openRedisLimiter({ redis, sql, log }, { prefix, processes })
      : openPostgresLimiter(sql),
    async [Symbol.asyncDispose]() {
      redis?.disconnect();
      await Promise.all([sql.end({ timeout: 5 }), testSql.end({ timeout: 5 })]);
    },
  };
}

function openStore(storage: StorageConfig): ObjectStore {
  return storage.provider === 's3' ? openS3Store(storage) : openFileStore(storage.folder);
}
