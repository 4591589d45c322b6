/** A primary and a standby under one URL: connections are to the primary, and follow a promotion. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import type { TestServer } from '../../../tests/support/postgres-server.ts';
import {
  startPrimary,
  startReplica,
  type TestReplica,
} from '../../../tests/support/replica-server.ts';
import { readDatabaseUrl } from '../lib/database-url.ts';
import { connect, type Database } from './client.ts';
import { isUnavailable } from './pg-errors.ts';
import { PrimaryWatch } from './primary.ts';
import { watchServers } from './watch-servers.ts';

const PATIENCE = { timeout: 15_000, interval: 50 };

let old: TestServer;
let next: TestReplica;
let database: TestDatabase;
/** Both servers, the standby first; the other order is another watch, as of another process. */
let url: string;
let reversedUrl: string;
const pools: Database[] = [];

const open = (at: string) => {
  const sql = connect({ url: at, connections: 2 });
  pools.push(sql);
  return sql;
};
const portOf = (at: string) => Number(new URL(at).port);
const serverOf = async (sql: Database) => {
  const [row] = await sql<{ port: number }[]>`select inet_server_port() as port`;
  return row?.port;
};

beforeAll(async () => {
  old = await startPrimary();
  database = await createTestDatabase(old.url);
  await database.sql`create table moved (n int)`;
  next = await startReplica(old);
  await vi.waitFor(async () => {
    const rows = await database.sql`select from pg_stat_replication where state = 'streaming'`;
    expect(rows).toHaveLength(1);
  }, PATIENCE);
  const [one, other] = [`127.0.0.1:${next.port}`, `127.0.0.1:${portOf(old.url)}`];
  const both = (hosts: string) => database.url.replace(/@[^/]*/, `@${hosts}`);
  url = `${both(`${one},${other}`)}?target_session_attrs=read-write`;
  reversedUrl = `${both(`${other},${one}`)}?target_session_attrs=read-write`;
}, 60_000);
afterAll(async () => {
  await Promise.all(pools.map((sql) => sql.end({ timeout: 1 })));
  await database.sql.end({ timeout: 1 });
  await next.close();
  await old.stop();
});

test('a primary without a free connection for a probe stays the primary', async () => {
  class Watch extends PrimaryWatch {
    probe = () => this.probeAll();
  }
  const { sql } = database;
  await sql`create role narrow login password 'narrow'`;
  const [server] = readDatabaseUrl(database.url.replace(/[^/]*@/, 'narrow:narrow@'));
  const watch = new Watch(server === undefined ? [] : [server]);
  expect(await watch.find()).toBe(server);
  await sql`alter role narrow connection limit 0`;
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'narrow'`;
  for (let round = 0; round < 6; round++) await watch.probe();
  expect(await watch.find()).toBe(server);
  await sql`alter role narrow nologin`;
  for (let round = 0; round < 3; round++) await watch.probe();
  await expect(watch.find()).rejects.toMatchObject({ code: 'NO_PRIMARY' });
});

test('connections are to the primary, and move when a standby is promoted while it still accepts writes', async () => {
  const sql = open(url);
  const warned: string[] = [];
  const log = { warn: (_details: unknown, text: string) => warned.push(text) };
  Object.assign(watchServers(url) ?? {}, { log });
  const heard: string[] = [];
  await sql.listen('moves', (text) => heard.push(text));
  await sql`insert into moved values (1)`;
  expect(await serverOf(sql)).toBe(portOf(old.url));

  await vi.waitFor(async () => {
    const replica = connect({
      url: next.urlOf(new URL(database.url).pathname.slice(1)),
      connections: 1,
    });
    const rows = await replica`select from moved`.finally(() => replica.end());
    expect(rows).toHaveLength(1);
  }, PATIENCE);
  await next.admin`select pg_promote()`;
  await vi.waitFor(async () => expect(await serverOf(sql)).toBe(next.port), PATIENCE);
  await sql`insert into moved values (2)`;
  // The listener connects again by itself.
  await vi.waitFor(async () => {
    await sql`select pg_notify('moves', 'after')`;
    expect(heard).toContain('after');
  }, PATIENCE);
  expect(warned).toContain('another primary');
  expect(await database.sql`select n from moved order by n`).toEqual([{ n: 1 }]);
});

test('an old primary that accepts writes is not chosen by a process that starts later', async () => {
  expect(await serverOf(open(reversedUrl))).toBe(next.port);
});

test('while no server accepts writes, statements are refused as temporarily unavailable, until one does', async () => {
  const sql = open(url);
  expect(await serverOf(sql)).toBe(next.port);
  await next.kill();
  const refused = () =>
    sql`select 1`.then(
      () => null,
      (error: unknown) => error as { code?: string; message: string },
    );
  // The old primary still accepts writes: it must not be used.
  await vi.waitFor(async () => {
    const error = await refused();
    expect(isUnavailable(error)).toBe(true);
    expect(error).toMatchObject({
      code: 'NO_PRIMARY',
      message: expect.stringMatching(/is an old primary \(timeline 1, the last was 2\)/),
    });
  }, PATIENCE);
  await next.start();
  await vi.waitFor(async () => expect(await serverOf(sql)).toBe(next.port), PATIENCE);
});
