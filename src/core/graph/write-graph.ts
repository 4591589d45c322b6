import { type Database, inTransaction, type Sql } from '../db/client.ts';
import { lockGraphForWriting } from './graph.sql.ts';

/**
 * Runs `work` in one transaction, one writer of this graph at a time; readers go on. All code that writes people,
 * companies, their identifiers or opt-outs uses it, so that an import sees every opt-out and no two imports merge
 * at the same time.
 */
export function writeGraph<T>(sql: Sql, work: (tx: Sql) => Promise<T>): Promise<T> {
  return inTransaction(sql as Database, async (tx) => {
    await lockGraphForWriting(tx);
    return work(tx);
  });
}
