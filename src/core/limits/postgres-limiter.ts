import type { Sql } from '../db/client.ts';
import type { PostgresLimiter } from './limiter.ts';
import { oweTokens, takeTokens } from './limits.sql.ts';

/** Limits in Postgres. Counted requests are taken by `countCallers`, in the statement that finds the key. */
export function openPostgresLimiter(sql: Sql): PostgresLimiter {
  return {
    store: 'postgres',
    takeTokens: (bucket) => takeTokens(sql, bucket),
    oweTokens: (bucket) => oweTokens(sql, bucket),
  };
}
