/** What a process needs, opened once and closed once. Features take narrow parts of it. */
import path from 'node:path';
import type { Config } from './config.ts';
import { connect, type Database } from './db/client.ts';
import { createLog, type Log } from './log.ts';
import { openFileStore } from './storage/file-store.ts';
import type { ObjectStore } from './storage/object-store.ts';

export interface Context extends AsyncDisposable {
  log: Log;
  /** Unqualified graph tables are the live graph. */
  sql: Database;
  /** Unqualified graph tables are the graph of test keys. */
  testSql: Database;
  store: ObjectStore;
}

/** Opens the context of a process on a database that is already migrated. */
export function openContext(config: Config, databaseUrl: string, process: string): Context {
  const log = createLog(config.logLevel, process);
  const connections = config.databaseConnections;
  const sql = connect({ url: databaseUrl, connections });
  const testSql = connect({ url: databaseUrl, connections, graph: 'graph_test' });
  return {
    log,
    sql,
    testSql,
    store: openFileStore(path.join(config.dataDir, 'objects')),
    async [Symbol.asyncDispose]() {
      await Promise.all([sql.end({ timeout: 5 }), testSql.end({ timeout: 5 })]);
    },
  };
}
