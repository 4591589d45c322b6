import type { Database } from '../../src/core/db/client.ts';
import { isUnavailable } from '../../src/core/db/pg-errors.ts';

/**
 * Drops the schema of the queue while workers use it. In a deadlock with one, Postgres ends the worker's statement, unless it
 * sees the deadlock as the drop begins to wait: then the drop is repeated.
 */
export async function loseQueue(sql: Database): Promise<void> {
  try {
    await sql.begin(async (tx) => {
      await tx`set local deadlock_timeout = '1min'`;
      await tx`drop schema bullmq cascade`;
    });
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    await loseQueue(sql);
  }
}
