import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../tests/support/database.ts';
import { migrateIfBehind } from './migrate-all.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(undefined, 'template1');
});
afterAll(() => database.drop());

it('rejects when the server ends the connection in the midst of a migration', async () => {
  let hasFailed: Promise<void> | undefined;
  await database.sql
    .begin(async (tx) => {
      // The first migration waits for this one to commit or not.
      await tx`create table public.accounts ()`;
      hasFailed = expect(migrateIfBehind(database.url)).rejects.toMatchObject({
        code: expect.stringMatching(/^(57P01|CONNECTION_CLOSED)$/),
      });
      let isEnded = false;
      while (!isEnded) {
        const [row] = await database.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%create table%'`;
        isEnded = row !== undefined;
        await delay(20);
      }
      throw new Error('rolled back');
    })
    .catch((error: Error) => expect(error.message).toBe('rolled back'));
  await hasFailed;
});
