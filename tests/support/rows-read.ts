import { type Database, inTransaction, type Sql } from '../../src/core/db/client.ts';

/**
 * Number of rows of these tables that `work` reads, from tables and indexes, in its transaction; with the pieces of long values,
 * which are rows of a table of their own.
 */
export async function rowsRead(
  sql: Database,
  tables: readonly string[],
  work: (tx: Sql) => Promise<unknown>,
): Promise<number> {
  const read = async (tx: Sql) => {
    const [sum] = await tx<{ rows: number }[]>`
      select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_all_tables
      where relid in (
        select unnest(array[oid, reltoastrelid]) from pg_class where oid = any(${[...tables]}::text[]::regclass[]))`;
    return sum?.rows ?? 0;
  };
  return inTransaction(sql, async (tx) => {
    // A connection may have reads of its own before that are not reported yet.
    const before = await read(tx);
    await work(tx);
    return (await read(tx)) - before;
  });
}
