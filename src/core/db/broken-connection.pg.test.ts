/**
 * Proves what `patches/` fixes in the driver: a connection that breaks during a transaction, while it is reserved or
 * while it is opened, ends neither the process nor the pool (porsager/postgres#1208) and leaves no query waiting, and a
 * transaction has a session for itself.
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

it('rejects what waits for a reserved connection that broke, and connects again', async () => {
  for (let time = 0; time < 10; time++) {
    const session = await sql.reserve();
    const [own] = await session<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const sleep = session`select pg_sleep(${600 + time})`.then(() => 'answered', codeOf);
    // A statement with parameters is described first: until then, the next ones wait in the reservation's queue.
    const waiting = session`select ${time}::int`.then(() => 'answered', codeOf);
    await database.sql`select pg_terminate_backend(${own?.pid ?? 0})`;
    expect(await waiting).toBe('CONNECTION_CLOSED');
    expect(await sleep).not.toBe('answered');
    await sql`select 1`;
    // The pool has another session by now, which is not the one that was reserved.
    expect(await session`select 1`.then(() => 'answered', codeOf)).toBe('CONNECTION_CLOSED');
    session.release();
    const [row] = await sql<{ one: number }[]>`select 1 as one`;
    expect(row).toEqual({ one: 1 });
  }
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

it('ends a pool whose connection breaks meanwhile', async () => {
  const pool = connect({ url: database.url, connections: 1 });
  const [own] = await pool<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const sleep = pool`select pg_sleep(600)`.then(() => 'answered', codeOf);
  const ended = pool.end();
  await database.sql`select pg_terminate_backend(${own?.pid ?? 0})`;
  await ended;
  expect(await sleep).not.toBe('answered');
});

it('ends a pool once a connection that was reserved is released', async () => {
  const pool = connect({ url: database.url, connections: 1 });
  const session = await pool.reserve();
  const ended = pool.end();
  expect(await session`select 1 as one`).toEqual([{ one: 1 }]);
  session.release();
  await ended;
});

// Authentication succeeded and the server is ready: messages of the protocol, version 3.
const welcome = Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 0, 90, 0, 0, 0, 5, 73]);

/** Opens a pool whose server breaks the first connection when the driver asks for the types, and accepts no other. */
async function connectToBreakingServer(): Promise<Database> {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(welcome);
      socket.once('data', () => {
        server.close();
        socket.end();
      });
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return connect({ url: `postgres://nobody@127.0.0.1:${port}/none`, connections: 1 });
}

it('rejects the query that waits for a connection that breaks before its first query, and no other', async () => {
  const pool = await connectToBreakingServer();
  // An unhandled error would end the process, and fails this test run.
  await expect(pool`select 1`).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await pool.end();
});

it('rejects a reservation that waits for a connection that breaks before its first query', async () => {
  const pool = await connectToBreakingServer();
  await expect(pool.reserve()).rejects.toMatchObject({ code: expect.any(String) });
  await pool.end();
});
