import type { Sql } from './client.ts';

/** Many times what a transaction with such a lock takes. */
const WAIT_MS_MAX = 3_000;

/**
 * Returns a select list that takes the advisory lock `key` until the transaction ends. It fails with `lock_not_available`
 * after 3 s, and so does every later wait of the transaction for a lock. Otherwise several transactions of a frozen process
 * would get the lock one after the other, and each would keep it until the server ends it, after 10 s.
 */
export function turnLock(sql: Sql, key: number) {
  return sql`set_config('lock_timeout', ${String(WAIT_MS_MAX)}, true), pg_advisory_xact_lock(${key})`;
}
