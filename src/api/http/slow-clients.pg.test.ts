/** Connections that send or read next to nothing are cut; slow ones, and those that wait for us, are not. */
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Response } from 'express';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import {
  exchange,
  type LimitedServer,
  openSocket,
  serveWithLimits,
} from '../../../tests/support/raw-http.ts';
import { Signal } from '../../../tests/support/signal.ts';
import type { JobContext } from '../../jobs/queue/job-context.ts';
import { holdUpload } from '../upload-context.ts';
import type { HttpLimits } from './http-server.ts';
import { holdDownload } from './open-responses.ts';
import { problemSchema } from './problem.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(100);
});
afterAll(() => pipeline.close());

const servers: LimitedServer[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function serve(
  limits: Partial<HttpLimits>,
  context: Pipeline['context'] = pipeline.context,
): Promise<LimitedServer> {
  const server = await serveWithLimits(context, limits);
  servers.push(server);
  return server;
}

function head(method: string, path: string, headers: Record<string, string | number>): string {
  const lines = Object.entries({ Host: 'x', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

const authorization = () => ({ Authorization: `Bearer ${caller.key}` });
const upload = (length: number) =>
  head('POST', '/v1/batches?operation=people.enrich', {
    ...authorization(),
    Connection: 'close',
    'Content-Type': 'text/csv',
    'Content-Length': length,
  });

/** A moment of the server's time: a call that it answers. */
const moment = () => fetch(`${pipeline.url}/healthz`);

/** Sends a letter at every moment until the connection ends. */
async function drip(socket: Socket): Promise<void> {
  while (socket.writable) {
    socket.write('x');
    await moment();
  }
}

describe('a body', () => {
  test('of an upload that drips is answered with 408, and nothing of it stays', async () => {
    const { port } = await serve({ rateMs: 300, bytesPerSecondMin: 10_000 });
    const answer = await exchange(port, `${upload(1_000_000)}email\n`, drip);
    expect(answer.status).toBe(408);
    const problem = problemSchema.parse(JSON.parse(answer.body));
    expect(problem.code).toBe('request_timeout');
    expect(problem.detail).toMatch(/10000 bytes per second/);
    while ((await pipeline.objects()).length > 0) await moment();
    expect(await pipeline.sql`select id from batches`).toHaveLength(0);
  });

  test.each([
    ['drips', { rateMs: 300, bytesPerSecondMin: 10_000 }],
    ['comes fast', { drainMs: 300, bytesPerSecondMin: 1 }],
  ])('that is not needed and %s is not waited for', async (_how, limits) => {
    const { port, connections } = await serve(limits);
    const withBody = head('GET', '/healthz', { 'Content-Length': 1_000_000 });
    const { status } = await exchange(port, withBody, drip);
    expect(status).toBe(200);
    expect(await connections()).toBe(0);
  });

  test('may be slow for as long as it likes above the rate', async () => {
    const { port } = await serve({ rateMs: 500, bytesPerSecondMin: 10 });
    const started = performance.now();
    const rows: string[] = ['email\n'];
    const text = 'a@b.example\n'.repeat(5_000);
    const answer = await exchange(port, upload(text.length + 6) + rows, async (socket) => {
      let sent = 0;
      while (performance.now() - started < 1_200) {
        socket.write(text.slice(sent, sent + 20));
        sent += 20;
        await moment();
      }
      socket.write(text.slice(sent));
    });
    expect(performance.now() - started).toBeGreaterThan(1_100);
    expect(answer.status, answer.body).toBe(202);
  });

  test('of an upload may not be slow while all places of uploads are taken', async () => {
    const limits = { rateMs: 300, bytesPerSecondMin: 1, demandedBytesPerSecondMin: 10_000 };
    const { port } = await serve(limits);
    const others = Array.from({ length: 19 }, (_, other) => {
      const response = new ServerResponse(new IncomingMessage(new Socket())) as Response;
      holdUpload(`account ${other}`, response);
      return response;
    });
    const answer = await exchange(port, `${upload(1_000_000)}email\n`, drip);
    for (const response of others) response.emit('close');
    expect(answer.status).toBe(408);
    expect(answer.body).toMatch(/10000 bytes per second/);
  });

  test('that waits for us is not slow', async () => {
    const released = new Signal();
    const store: JobContext['store'] = {
      ...pipeline.context.store,
      async putStream(key, source) {
        await released.raised;
        return pipeline.context.store.putStream(key, source);
      },
    };
    const { port } = await serve({ rateMs: 100 }, { ...pipeline.context, store });
    const text = `email\n${'a@b.example\n'.repeat(100_000)}`;
    const started = performance.now();
    const answer = await exchange(port, upload(text.length) + text, async () => {
      while (performance.now() - started < 500) await moment();
      released.raise();
    });
    expect(answer.status, answer.body).toBe(202);
  });
});

test('a client that sends on after its refusal can read it before the connection ends', async () => {
  const { port, connections } = await serve({ drainMs: 400, bytesPerSecondMin: 1 });
  const unknown = head('POST', '/v1/batches?operation=people.enrich', {
    Authorization: 'Bearer nobody',
    'Content-Type': 'text/csv',
    'Content-Length': 1_000_000_000,
  });
  const block = Buffer.alloc(1024 * 1024, 'x');
  const started = performance.now();
  const answer = await exchange(port, unknown, async (socket) => {
    const closed = new Promise((resolve) => socket.once('close', resolve));
    while (socket.writable) {
      if (socket.write(block)) continue;
      await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
    }
  });
  expect(answer.status).toBe(401);
  expect(problemSchema.parse(JSON.parse(answer.body)).code).toBe('invalid_key');
  expect(performance.now() - started).toBeGreaterThan(400);
  expect(await connections()).toBe(0);
});

describe('a connection without a request', () => {
  test('is closed in a crowd, and kept where there is room', async () => {
    const crowded = await serve({ crowdFrom: 3, crowdedIdleMs: 100 });
    const roomy = await serve({ crowdFrom: 4, crowdedIdleMs: 100 });
    const request = head('GET', '/healthz', {});
    for (const { port } of [crowded, roomy]) {
      for (let client = 0; client < 3; client++) {
        const socket = await openSocket(port);
        socket.write(request);
        await once(socket, 'data');
      }
    }
    while ((await crowded.connections()) > 0) await moment();
    expect(await roomy.connections()).toBe(3);
  });
});

describe('an answer', () => {
  let results: string;
  let bytes: number;
  beforeAll(async () => {
    const note = 'x'.repeat(200);
    const rows = Array.from({ length: 60_000 }, (_, row) => `${row}@nobody.example,${note}`);
    const list = `email,note\n${rows.join('\n')}\n`;
    const id = await pipeline.enrich(caller, list, { operation: 'people.enrich' });
    results = head('GET', `/v1/batches/${id}/results`, {
      ...authorization(),
      Connection: 'close',
    });
    bytes = (await pipeline.results(caller, id)).text.length;
    // More than the buffers of both ends take.
    expect(bytes).toBeGreaterThan(12_000_000);
  });

  test('of which next to nothing is read is cut', async () => {
    const { port, connections } = await serve({ rateMs: 300, bytesPerSecondMin: 10_000 });
    const socket = await openSocket(port);
    socket.pause();
    socket.write(results);
    while ((await connections()) === 0) await moment();
    while ((await connections()) > 0) {
      socket.read(1);
      await moment();
    }
    socket.destroy();
  });

  test('of a download is cut sooner while all places of downloads are taken', async () => {
    const limits = { rateMs: 300, bytesPerSecondMin: 0, demandedBytesPerSecondMin: 10_000 };
    const { port, connections } = await serve(limits);
    const socket = await openSocket(port);
    socket.write(results);
    await once(socket, 'data');
    socket.pause();
    const others = Array.from({ length: 351 }, (_, other) => {
      const response = new ServerResponse(new IncomingMessage(new Socket())) as Response;
      holdDownload(`account ${other}`, response);
      return response;
    });
    while ((await connections()) > 0) await moment();
    for (const response of others) response.emit('close');
    socket.destroy();
  });

  test('that is read slowly and steadily comes whole', async () => {
    const { port } = await serve({ rateMs: 1_000, bytesPerSecondMin: 10 });
    const socket = await openSocket(port);
    socket.write(results);
    const started = performance.now();
    let read = 0;
    for await (const block of socket) {
      read += (block as Buffer).length;
      // As fast as takes two windows and more in all.
      while (performance.now() - started < (2_500 * read) / bytes) await moment();
    }
    expect(read).toBeGreaterThan(bytes);
    expect(performance.now() - started).toBeGreaterThan(2_000);
  });
});

test('an account has so many downloads open at once, and another when one of them ends', async () => {
  const rows = Array.from(
    { length: 60_000 },
    (_, row) => `${row}@nobody.example,${'x'.repeat(200)}`,
  );
  const list = `email,note\n${rows.join('\n')}\n`;
  const id = await pipeline.enrich(caller, list, { operation: 'people.enrich' });
  const path = `/v1/batches/${id}/results`;
  const { port } = await serve({});
  const sockets: Socket[] = [];
  while (sockets.length < 32) {
    const socket = await openSocket(port);
    sockets.push(socket);
    socket.write(head('GET', path, authorization()));
    const [begin] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    expect(begin.toString()).toMatch(/^HTTP\/1\.1 200 /);
  }
  const url = `http://127.0.0.1:${port}${path}`;
  const refused = await fetch(url, { headers: authorization() });
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('10');
  const problem = problemSchema.parse(await refused.json());
  expect(problem).toMatchObject({ code: 'rate_limited', quota: 32 });
  expect(problem.detail).toMatch(/downloads of the account open at once/);
  const stranger = await pipeline.account(1);
  const own = await pipeline.enrich(stranger, 'email\nnone\n', { operation: 'people.enrich' });
  const others = await fetch(`http://127.0.0.1:${port}/v1/batches/${own}/results`, {
    headers: { Authorization: `Bearer ${stranger.key}` },
  });
  expect(others.status).toBe(200);
  sockets[0]?.destroy();
  let answer = await fetch(url, { headers: authorization() });
  while (answer.status === 429) answer = await fetch(url, { headers: authorization() });
  expect(answer.status).toBe(200);
  await answer.body?.cancel();
  for (const socket of sockets) socket.destroy();
});

test('an account has so many uploads open at once, and another when one of them ends', async () => {
  const { port } = await serve({});
  const path = '/v1/batches?operation=people.enrich&hold=true';
  const sockets = await Promise.all(Array.from({ length: 11 }, () => openSocket(port)));
  const headers = { ...authorization(), 'Content-Type': 'text/csv', 'Content-Length': '1000' };
  // None of them is answered but the one that is too many.
  const answered = sockets.map(async (socket) => {
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return { socket, answer: answer.toString() };
  });
  for (const socket of sockets) socket.write(`${head('POST', path, headers)}email\n`);
  const refused = await Promise.race(answered);
  expect(refused.answer).toMatch(/^HTTP\/1\.1 429 /);
  expect(refused.answer).toMatch(/^Retry-After: 10\r$/m);
  expect(refused.answer).toMatch(/limit of 10 for uploads of the account open at once/);
  const upload = (by: Record<string, string>) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { ...by, 'Content-Type': 'text/csv' },
      body: 'email\nnone\n',
    });
  const stranger = await pipeline.account(1);
  expect((await upload({ Authorization: `Bearer ${stranger.key}` })).status).toBe(202);
  expect((await upload(authorization())).status).toBe(429);
  sockets.find((socket) => socket !== refused.socket)?.destroy();
  let answer = await upload(authorization());
  while (answer.status === 429) answer = await upload(authorization());
  expect(answer.status).toBe(202);
  for (const socket of sockets) socket.destroy();
});
