/**
 * Proves what `patches/` fixes in the driver: a connection that breaks during a transaction, or while it is
 * opened, ends neither the process nor the pool (porsager/postgres#1208), and a transaction has a session for itself.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { connect, type Database, inTransaction, type Sql } from './client.ts';

let database: TestDatabase;
let sql: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  sql = connect({ url: database.url, connections: 1 });
});
afterAll(async () => {
  await sql.end({ timeout: 5 });
  await database.drop();
});

const codeOf = (error: unknown) => String((error as { code?: unknown }).code);

/** Breaks the connection of a transaction. Returns the outcomes of two further queries on it. */
async function breakAndQuery(tx: Sql): Promise<string[]> {
  const [session] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
  await database.sql`select pg_terminate_backend(${session?.pid ?? 0})`;
  const query = () => tx`select 1`.then(() => 'answered', codeOf);
  let told = await query();
  while (told !== 'CONNECTION_CLOSED') told = await query();
  return [told, await query()];
}

it('rejects the queries of a transaction after its connection broke, and connects again', async () => {
  for (let time = 0; time < 10; time++) {
    let told: Promise<string[]> | undefined;
    const transaction = inTransaction(sql, (tx) => {
      told = breakAndQuery(tx);
      return told;
    });
    await expect(transaction).rejects.toMatchObject({ code: expect.any(String) });
    expect(await told).toEqual(['CONNECTION_CLOSED', 'CONNECTION_CLOSED']);
    const [row] = await sql<{ one: number }[]>`select 1 as one`;
    expect(row).toEqual({ one: 1 });
  }
});

it('answers no query of a transaction by the session that the pool has opened since', async () => {
  let told: Promise<string> | undefined;
  const work = async (tx: Sql) => {
    const [session] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
    await database.sql`select pg_terminate_backend(${session?.pid ?? 0})`;
    await sql`select 1`;
    return tx`select 1`.then(() => 'answered', codeOf);
  };
  const transaction = inTransaction(sql, (tx) => {
    told = work(tx);
    return told;
  });
  await expect(transaction).rejects.toMatchObject({ code: expect.any(String) });
  expect(await told).toBe('CONNECTION_CLOSED');
});

it('begins a transaction behind as many queries as a connection takes', async () => {
  const lock = await database.sql.reserve();
  await lock`select pg_advisory_lock(1)`;
  await sql`select 1`;
  const others = [sql`select pg_advisory_xact_lock(1)`.execute()];
  for (let other = 0; other < 99; other++) others.push(sql`select 1`.execute());
  const begun = inTransaction(sql, async (tx) => {
    const [row] = await tx<{ own: boolean }[]>`select now() < clock_timestamp() as own`;
    return row?.own;
  });
  await lock`select pg_advisory_unlock(1)`;
  lock.release();
  await Promise.all(others);
  expect(await begun).toBe(true);
  const left = await database.sql`
    select from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
  expect(left).toHaveLength(0);
});

// Authentication succeeded and the server is ready: messages of the protocol, version 3.
const welcome = Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 0, 90, 0, 0, 0, 5, 73]);

it('rejects the query that waits for a connection that breaks before its first query, and no other', async () => {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(welcome);
      // The driver asks for the types first; from here on no connection is accepted.
      socket.once('data', () => {
        server.close();
        socket.end();
      });
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const pool = connect({ url: `postgres://nobody@127.0.0.1:${port}/none`, connections: 1 });
  // An unhandled error would end the process, and fails this test run.
  await expect(pool`select 1`).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await pool.end({ timeout: 1 });
});
