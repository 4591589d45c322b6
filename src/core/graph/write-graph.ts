import { type Database, inTransaction, type Sql } from '../db/client.ts';
import { lockGraphForWriting } from './graph.sql.ts';

/**
 * Runs `work` in one transaction, one writer of this graph at a time; readers go on. Whatever writes
 * people, companies, their identifiers or opt-outs goes through here, so that an import sees every
 * opt-out and no two imports merge into each other.
 */
export function writeGraph<T>(sql: Sql, work: (tx: Sql) => Promise<T>): Promise<T> {
  return inTransaction(sql as Database, async (tx) => {
    await lockGraphForWriting(tx);
    return work(tx);
  });
}
