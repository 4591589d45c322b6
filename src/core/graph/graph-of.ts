import type { Sql } from '../db/client.ts';

/** The graph that a caller sees: the live one, or that of test keys. */
export function graphOf({ sql, testSql }: { sql: Sql; testSql: Sql }, live: boolean): Sql {
  return live ? sql : testSql;
}
