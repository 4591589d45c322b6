import type { Sql } from '../db/client.ts';

/** Returns the graph of a caller: the live one, or that of test keys. */
export function graphOf({ sql, testSql }: { sql: Sql; testSql: Sql }, live: boolean): Sql {
  return live ? sql : testSql;
}
