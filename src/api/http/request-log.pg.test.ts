import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openApiContext } from '../../../tests/support/api-context.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { scrapeHere } from '../../../tests/support/scrape.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { untilBlocked } from '../../../tests/support/until-blocked.ts';
import { inTransaction } from '../../core/db/client.ts';
import { createApp } from '../app.ts';

type Line = Record<string, unknown>;

let pipeline: Pipeline;
let caller: Caller;
let url: string;
let lines: Line[] = [];
/** Work that a test holds up. */
let hold: Promise<void> | null = null;
const closing: (() => unknown)[] = [];
const log = pino(
  { level: 'debug' },
  new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as Line);
      done();
    },
  }),
);

beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(3) });
  caller = await pipeline.account(100);
  const api = openApiContext({ ...pipeline.context, log });
  const app = createApp({
    ...api,
    calls: {
      async run(call, gone) {
        await hold;
        return api.calls.run(call, gone);
      },
    },
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  closing.push(() => server.close().closeAllConnections());
});
afterAll(async () => {
  for (const close of closing) close();
  await pipeline.close();
});
beforeEach(() => {
  lines = [];
});

const headers = () => ({ Authorization: `Bearer ${caller.key}` });

/** The line of a request that was answered: it is written a moment after the answer was read. */
async function lineOf(answer: Response): Promise<Line> {
  await answer.text();
  const requestId = answer.headers.get('x-request-id');
  const find = () => lines.find((line) => line.msg === 'request' && line.requestId === requestId);
  return (await vi.waitUntil(find)) as Line;
}

async function callsCounted(): Promise<number> {
  const [day] = await pipeline.sql<{ requests: number }[]>`
    select requests from day_counts where owner = ${caller.keyId}`;
  return day?.requests ?? 0;
}

async function unmeteredCalls(): Promise<number> {
  const [bucket] = await pipeline.sql<{ at: number }[]>`
    select extract(epoch from full_at)::float8 as at from rate_buckets
    where owner = ${caller.accountId} and name = 'other calls'`;
  return bucket?.at ?? 0;
}

test('a call that was charged tells whose it was and what it cost', async () => {
  const path = '/v1/people/enrich?email=p1%40list.example';
  const line = await lineOf(await fetch(url + path, { headers: headers() }));
  expect(line).toEqual({
    level: 30,
    time: expect.any(Number),
    pid: expect.any(Number),
    hostname: expect.any(String),
    requestId: expect.stringMatching(/^[\da-f-]{36}$/),
    method: 'GET',
    route: '/v1/people/enrich',
    status: 200,
    ms: expect.any(Number),
    account: caller.accountId,
    key: caller.keyId,
    credits: 1,
    msg: 'request',
  });
  const reference = `call:${line.requestId}`;
  const [charge] =
    await pipeline.sql`select amount from ledger_entries where reference = ${reference}`;
  expect(charge).toEqual({ amount: -1 });
});

test('a setting that was changed is told by its id, and one that does not exist is not', async () => {
  const remove = (id: string) =>
    fetch(`${url}/v1/keys/${id}`, { method: 'DELETE', headers: owner });
  const owned = await pipeline.keyOf(caller.accountId, 'live', ['account']);
  const owner = { Authorization: `Bearer ${owned.key}` };
  const absent = await lineOf(await remove(randomUUID()));
  expect(absent).toMatchObject({ route: '/v1/keys/:id', status: 404 });
  expect(absent).not.toHaveProperty('object');
  const other = await pipeline.keyOf(caller.accountId, 'live', ['account']);
  const line = await lineOf(await remove(other.keyId));
  expect(line).toMatchObject({ route: '/v1/keys/:id', object: other.keyId, key: owned.keyId });
});

test('a change of a schedule tells whether it is enabled then', async () => {
  const owner = { ...headers(), 'Content-Type': 'application/json' };
  const send = async (method: string, path: string, body: object) =>
    fetch(url + path, { method, headers: owner, body: JSON.stringify(body) });
  const made = await send('POST', '/v1/schedules', {
    filter: 'gender=2',
    name: 'n',
    cron: '0 2 * * *',
  });
  expect(made.status).toBe(201);
  const { id } = (await made.json()) as { id: string };
  for (const [change, enabled] of [
    [{ enabled: false }, false],
    [{ cron: '0 3 * * *' }, false],
    [{ enabled: true }, true],
  ] as const) {
    const line = await lineOf(await send('PATCH', `/v1/schedules/${id}`, change));
    expect(line).toMatchObject({ route: '/v1/schedules/:id', object: id, enabled });
  }
  const run = await send('POST', `/v1/schedules/${id}/run`, {});
  const line = await lineOf(run.clone());
  expect(line).toMatchObject({ batch: ((await run.json()) as { export_id: string }).export_id });
});

test('what was sent is not told, whatever became of it', async () => {
  const wrong = [
    '/v1/people/enrich?email=q9secret',
    '/q9secret',
    '/v1/batches/q9secret?q9secret=1',
  ];
  for (const path of wrong) {
    const line = await lineOf(await fetch(url + path, { headers: headers() }));
    expect(line.status).toBeGreaterThanOrEqual(400);
  }
  const refused = await lineOf(await fetch(`${url}/v1/me`));
  expect(refused).toMatchObject({ route: '/v1/me', status: 401 });
  expect(refused).not.toHaveProperty('account');
  expect(lines.map(({ route }) => route)).toEqual([
    '/v1/people/enrich',
    'none',
    '/v1/batches/:id',
    '/v1/me',
  ]);
  expect(JSON.stringify(lines)).not.toContain('q9secret');
});

test('a list is followed from its upload to its end by one id', async () => {
  const uploaded = await fetch(`${url}/v1/batches?operation=people.enrich`, {
    method: 'POST',
    headers: { ...headers(), 'Content-Type': 'text/csv' },
    body: 'email\np1@list.example\n',
  });
  const { batch } = await lineOf(uploaded);
  expect(batch).toMatch(/^[\da-f-]{36}$/);
  await pipeline.queues.runUntilIdle({ ...pipeline.context, log });
  await lineOf(await fetch(`${url}/v1/batches/${batch}/results`, { headers: headers() }));
  const about = lines.filter((line) => line.batch === batch);
  expect(about.map(({ msg, route }) => route ?? msg)).toEqual([
    '/v1/batches',
    'batch ended',
    '/v1/batches/:id/results',
  ]);
});

test('a caller who did not wait is told as such, and counted', async () => {
  const before = await scrapeHere();
  let go: () => void = () => {};
  hold = new Promise((resolve) => {
    go = resolve;
  });
  const path = '/v1/people/enrich?email=p2%40list.example';
  const counted = await callsCounted();
  const impatient = send(url + path, { headers: headers() });
  impatient.on('error', () => {});
  impatient.end();
  await vi.waitUntil(async () => (await callsCounted()) > counted);
  impatient.destroy();
  const line = await vi.waitUntil(() => lines.find(({ status }) => status === 'aborted'));
  go();
  hold = null;
  expect(line).toMatchObject({ route: '/v1/people/enrich', account: caller.accountId });
  const after = await scrapeHere();
  const aborted = { route: '/v1/people/enrich', status: 'aborted' };
  expect(after.sum('enrich_http_request_seconds_count', aborted)).toBe(
    (before.sum('enrich_http_request_seconds_count', aborted) ?? 0) + 1,
  );
});

test('methods that no route takes make no series of their own', async () => {
  for (const path of ['/v1/me', '/admin/queues', '/console/session']) {
    for (const method of ['PUT', 'PROPFIND', 'M-SEARCH', 'PATCH']) {
      const sent = send(url + path, { method }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      expect(response.statusCode).toBeGreaterThanOrEqual(400);
      response.destroy();
    }
  }
  const seconds = (await scrapeHere()).samples.filter(
    ({ name }) => name === 'enrich_http_request_seconds_count',
  );
  const counted = seconds.map(({ labels }) => `${labels.method} ${labels.route}`);
  expect(counted).toEqual(expect.arrayContaining(['any /v1/me', 'any /admin']));
  expect(counted).not.toContain('PATCH /v1/me');
  for (const name of counted) expect(name).toMatch(/^(any|GET|HEAD|POST|PATCH|DELETE) /);
});

test('a body that its client broke off is no error of the service', async () => {
  const broken = send(`${url}/v1/batches`, {
    method: 'POST',
    headers: { ...headers(), 'Content-Type': 'application/json', 'Content-Length': 100 },
  });
  broken.on('error', () => {});
  const counted = await unmeteredCalls();
  broken.write('{"rows":');
  await vi.waitUntil(async () => (await unmeteredCalls()) > counted);
  broken.destroy();
  await vi.waitUntil(() => lines.find(({ status }) => status === 'aborted'));
  await lineOf(await fetch(`${url}/v1/me`, { headers: headers() }));
  expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

test('a read that its client left is no error of the service', async () => {
  const { sql } = pipeline;
  const left = new AbortController();
  await inTransaction(sql, async (tx) => {
    await tx`lock table batches`;
    const reading = fetch(`${url}/v1/batches?sort=name`, {
      headers: headers(),
      signal: left.signal,
    });
    await untilBlocked(sql, 1);
    left.abort();
    await expect(reading).rejects.toThrow('aborted');
    // The server cancels its statement.
    await vi.waitUntil(async () => !(await isAnyBlocked()));
  });
  await vi.waitUntil(() => lines.find(({ status }) => status === 'aborted'));
  await lineOf(await fetch(`${url}/v1/batches?sort=name`, { headers: headers() }));
  expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

async function isAnyBlocked(): Promise<boolean> {
  const blocked = await pipeline.sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return blocked.length > 0;
}

test('probes are told to those who want to know everything', async () => {
  expect(await lineOf(await fetch(`${url}/healthz`))).toMatchObject({ level: 20 });
  expect(await lineOf(await fetch(`${url}/readyz`))).toMatchObject({ level: 20 });
});
