import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { readCancellable } from './cancellable.ts';
import { connect, type Database, type Sql } from './client.ts';

const CANCELLED = { code: '57014' };

let database: TestDatabase;
let sql: Database;
let control: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  sql = connect({ url: database.url, connections: 2 });
  control = connect({ url: database.url, connections: 1 });
});
afterAll(async () => {
  await Promise.all([sql.end(), control.end()]);
  await database.drop();
});

test('a running statement ends when the signal aborts', async () => {
  const abort = new AbortController();
  const read = readCancellable(sql, { signal: abort.signal, control }, async (tx) => {
    setImmediate(() => abort.abort());
    return tx`select pg_sleep(3600)`;
  });
  await expect(read).rejects.toMatchObject(CANCELLED);
});

test('an abort between two statements ends the second one', async () => {
  const abort = new AbortController();
  const read = readCancellable(sql, { signal: abort.signal, control }, async (tx) => {
    await tx`select 1`;
    abort.abort();
    return tx`select pg_sleep(3600)`;
  });
  await expect(read).rejects.toMatchObject(CANCELLED);
});

test('an abort before the start ends the first statement', async () => {
  const read = readCancellable(
    sql,
    { signal: AbortSignal.abort(), control },
    (tx) => tx`select pg_sleep(3600)`,
  );
  await expect(read).rejects.toMatchObject(CANCELLED);
});

test('a cancellation never reaches the statement of another caller of the pool', async () => {
  const cancelled = Array.from({ length: 300 }, async (_, index) => {
    const abort = new AbortController();
    const read = readCancellable(sql, { signal: abort.signal, control }, async (tx) => {
      void delay(index % 4).then(() => abort.abort());
      return tx`select pg_sleep(0.002)`;
    });
    return read.then(
      () => 'read',
      (error: { code?: string }) => error.code,
    );
  });
  const others = Array.from({ length: 600 }, () => sql`select pg_sleep(0.001)`);
  // Neither readers that are not cancelled nor plain statements are affected.
  const readers = Array.from({ length: 100 }, () =>
    readCancellable(sql, { signal: new AbortController().signal, control }, (tx) => sleep(tx)),
  );
  await Promise.all([...others, ...readers]);
  expect(new Set(await Promise.all(cancelled))).toEqual(new Set(['read', '57014']));
});

async function sleep(tx: Sql): Promise<void> {
  await tx`select pg_sleep(0.001)`;
}
