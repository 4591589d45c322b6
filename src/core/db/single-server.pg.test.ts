/** Connections to one server behind a network that loses their packets: nothing tells the client that they are dead. */
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { TcpProxy } from '../../../bench/chaos/tcp-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { connect, type Database } from './client.ts';
import { isUnavailable } from './pg-errors.ts';
import { watchServers } from './watch-servers.ts';

const PATIENCE = { timeout: 40_000, interval: 100 };

/** Connected to another database. */
let admin: Database;
let database: TestDatabase;
let proxy: TcpProxy;
let proxied: string;
let sql: Database;
const warned: string[] = [];
beforeAll(async () => {
  admin = connect({ url: inject('serverUrl'), connections: 1 });
  database = await createTestDatabase();
  const { port } = new URL(database.url);
  proxy = await TcpProxy.open(() => Number(port));
  const url = new URL(database.url);
  url.host = `127.0.0.1:${proxy.port}`;
  proxied = url.href;
  sql = connect({ url: proxied, connections: 2 });
  const log = { warn: (_details: unknown, text: string) => warned.push(text) };
  Object.assign(watchServers(proxied) ?? {}, { log });
});
afterAll(async () => {
  await sql.end({ timeout: 1 });
  await proxy[Symbol.asyncDispose]();
  await database.drop();
  await admin.end();
});

/** Those through the proxy that were asked in the last `ms`: it keeps dead connections open towards the server. */
const probes = (ms = 2_000) => admin`
  select from pg_stat_activity
  where datname = ${new URL(database.url).pathname.slice(1)}
    and application_name = 'enrichment-pipeline probe'
    and query = 'select' and state_change > clock_timestamp() - ${ms} * interval '1 ms'`;
const isProbed = () => vi.waitFor(async () => expect(await probes()).toHaveLength(1), PATIENCE);
const codeOf = (error: unknown) => (error as { code?: string }).code ?? String(error);

test('a statement on a dead connection fails as unavailable, while new connections work', async () => {
  await sql`select 1`;
  await isProbed();
  proxy.behave({ kind: 'forget' });
  const error = await sql`select 1`.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(isUnavailable(error), codeOf(error)).toBe(true);
  expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
  expect(warned).toEqual(['dead connections to the database ended']);
}, 60_000);

test('so do those of connections that die while the response to the first probe is on its way', async () => {
  await sql.end({ timeout: 1 });
  await vi.waitFor(async () => expect(await probes()).toHaveLength(0), PATIENCE);
  sql = connect({ url: proxied, connections: 2 });
  // Each waits for a response at all times, and one of them receives something after the probe was sent.
  const ask = async () => {
    for (;;) await sql`select 1`;
  };
  proxy.behave({ kind: 'latency', ms: 200 });
  const asking = [ask(), ask()].map((endless) => endless.catch((thrown: unknown) => thrown));
  await vi.waitFor(async () => expect(await probes(150)).toHaveLength(1), {
    ...PATIENCE,
    interval: 10,
  });
  proxy.behave({ kind: 'forget' });
  for (const error of await Promise.all(asking)) {
    expect(isUnavailable(error), codeOf(error)).toBe(true);
  }
  expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
}, 60_000);

test('while nothing comes back from the server, statements fail instead of waiting for ever', async () => {
  await sql`select 1`;
  await isProbed();
  proxy.behave({ kind: 'blackhole' });
  const error = await sql`select 1`.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(isUnavailable(error), codeOf(error)).toBe(true);
  expect(warned).toContain('the database does not respond, connections ended');
  // Nor does one wait for the connection that it needs.
  const next = await sql`select 1`.then(() => null, codeOf);
  expect(next).toBe('ETIMEDOUT');
  proxy.behave({ kind: 'none' });
  await vi.waitFor(async () => expect(await sql`select 1 as one`).toEqual([{ one: 1 }]), PATIENCE);
}, 60_000);

test('a server that responds too late to every probe keeps its connections while it sends to one', async () => {
  await sql`select 1`;
  await isProbed();
  proxy.behave({ kind: 'latency', ms: 1_100 });
  const until = performance.now() + 25_000;
  // Each waits as long as a probe does.
  while (performance.now() < until) expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
  proxy.behave({ kind: 'none' });
}, 60_000);

test('without connections nothing is asked of the server', async () => {
  await sql.end({ timeout: 5 });
  await vi.waitFor(async () => expect(await probes()).toHaveLength(0), PATIENCE);
});
