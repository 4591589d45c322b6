import type { Database } from '../../src/core/db/client.ts';

/** Drops the schema of the queue while workers use it. In a deadlock with one, Postgres ends the worker's statement. */
export async function loseQueue(sql: Database): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local deadlock_timeout = '1min'`;
    await tx`drop schema bullmq cascade`;
  });
}
