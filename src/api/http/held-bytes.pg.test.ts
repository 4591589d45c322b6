/** Bodies that clients do not finish, and responses that they do not read, are held in memory, and bounded. */
import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { exchange, openSocket } from '../../../tests/support/raw-http.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { must } from '../../core/lib/assert.ts';
import { holdBody, holdResponse } from './held-bytes.ts';

/** The longest body of a do-not-contact call, of which an account may hold four, and sixteen are a process's. */
const BODY_BYTES = 4 * 1024 * 1024;

const MEBIBYTE = 1024 * 1024;

let pipeline: Pipeline;
let port: number;
beforeAll(async () => {
  pipeline = await openPipeline();
  port = Number(new URL(pipeline.url).port);
});
afterAll(() => pipeline.close());

const sockets: Socket[] = [];
const hangUp = () => {
  for (const socket of sockets.splice(0)) socket.destroy();
};
afterEach(hangUp);

/** Sends all but the last byte of a longest body; resolves with the response, which only a refusal is. */
async function sendUnfinished(caller: Caller): Promise<string> {
  const socket = await openSocket(port);
  sockets.push(socket);
  socket.write(
    `POST /v1/do-not-contact HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`,
  );
  socket.write(Buffer.alloc(BODY_BYTES - 1, ' '));
  const [refusal] = await once(socket, 'data');
  return String(refusal);
}

const send = (caller: Caller) =>
  pipeline.call(caller, '/v1/do-not-contact', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ domains: ['a.example'] }),
  });

/** Hangs up, and sends a body until it is accepted. */
async function expectLetGo(caller: Caller): Promise<void> {
  hangUp();
  while ((await send(caller)).status !== 200);
}

test('an account that holds too much is refused, others are not, and what it leaves is let go', async () => {
  const greedy = await pipeline.account(0);
  const refused = await Promise.race([1, 2, 3, 4, 5].map(() => sendUnfinished(greedy)));
  expect(refused).toMatch(/^HTTP\/1\.1 429 /);
  expect(refused).toMatch(/^retry-after: 10\r$/im);
  expect(refused).toContain('16777216 for bytes of request bodies of the account');
  expect((await send(await pipeline.account(0))).status).toBe(200);
  await expectLetGo(greedy);
});

test('accounts together are refused beyond what a process may hold', async () => {
  const accounts = await Promise.all([1, 2, 3, 4, 5, 6].map(() => pipeline.account(0)));
  const bodies = accounts.flatMap((account) => [1, 2, 3].map(() => sendUnfinished(account)));
  const refused = await Promise.race(bodies);
  expect(refused).toMatch(/^HTTP\/1\.1 503 /);
  expect(refused).toContain('Too many request bodies');
  await expectLetGo(await pipeline.account(0));
});

/** Decisions of four bytes each, as many as a file may have. */
const decisions = `row,id\n${'1,1\n'.repeat(100_000)}`;
const emails = Array.from({ length: 10_000 }, (_, index) => `${index.toString(36)}@a.io`);

test.each([
  ['POST', `/v1/batches/${crypto.randomUUID()}/decisions`, 'text/csv', decisions, 404],
  ['DELETE', '/v1/do-not-contact', 'application/json', JSON.stringify({ emails }), 200],
] as const)(
  'what is read of short entries counts: %s %s',
  async (method, path, type, body, status) => {
    const call = async (caller: Caller) => {
      const headers = { 'Content-Type': type };
      const response = await pipeline.call(caller, path, { method, headers, body });
      return { status: response.status, text: await response.text() };
    };
    const greedy = await pipeline.account(0);
    const responses = await Promise.all(Array.from({ length: 30 }, () => call(greedy)));
    const accepted = responses.filter((response) => response.status === status);
    const refused = responses.filter(({ text }) => text.includes('bytes of request bodies'));
    expect(accepted.length).toBeGreaterThan(0);
    expect(refused.length).toBeGreaterThan(15);
    expect(accepted.length + refused.length).toBe(responses.length);
    expect((await call(greedy)).status).toBe(status);
  },
);

test('a sign-in has a small body', async () => {
  const { status } = await exchange(
    port,
    'POST /console/session HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n' +
      `Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n${' '.repeat(10_000)}`,
  );
  expect(status).toBe(413);
});

/** Writes a long response of the account, which is not read until the returned function hangs up. */
async function leaveUnread({ accountId }: Caller): Promise<() => void> {
  const long = createServer((_request, response: ServerResponse) => {
    holdResponse(accountId, response, 0);
    response.end(Buffer.alloc(64 * 1024 * 1024));
    response.req.socket.emit('responded');
  }).listen(0, '127.0.0.1');
  await once(long, 'listening');
  const isResponding = once(long, 'connection').then(([socket]) => once(socket, 'responded'));
  const socket = await openSocket((long.address() as AddressInfo).port);
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await isResponding;
  return () => {
    socket.destroy();
    long.close();
  };
}

test('an account that does not read its responses is refused, others are not, until it reads or hangs up', async () => {
  const greedy = await pipeline.account(0);
  const hangUp = await leaveUnread(greedy);
  const me = (caller: Caller) => pipeline.call(caller, '/v1/me');
  const refused = await expectProblem(await me(greedy), { status: 429, code: 'rate_limited' });
  expect(refused.detail).toContain('16777216 for bytes of unread responses of the account');
  expect((await me(await pipeline.account(0))).status).toBe(200);
  hangUp();
  while ((await me(greedy)).status !== 200);
});

test('a search that waited for its turn is refused, and costs nothing, when earlier pages are not read by then', async () => {
  const greedy = await pipeline.account(10);
  const lock = await pipeline.sql.reserve();
  await lock`begin`;
  await lock`lock table industries`;
  const search = (limit: number) =>
    pipeline.call(greedy, `/personsearch/?industryList=Oil&limit=${limit}`);
  const asked = [1, 2, 3].map(search);
  await vi.waitUntil(
    async () =>
      (
        await pipeline.sql`select from pg_locks where relation = 'industries'::regclass and not granted`
      ).length === 2,
  );
  const hangUp = await leaveUnread(greedy);
  await lock`rollback`;
  lock.release();
  const [refused, ...others] = (await Promise.all(asked)).sort((a, b) => b.status - a.status);
  await expectProblem(must(refused, 'the last search'), { status: 429, code: 'rate_limited' });
  expect(others.map(({ status }) => status)).toEqual([200, 200]);
  expect((await pipeline.wallet(greedy))?.balance).toBe(10);
  hangUp();
  while ((await pipeline.call(greedy, '/v1/me')).status !== 200);
});

test('pages that are requested together count before they are written, for the account and for all', async () => {
  const open: ServerResponse[] = [];
  const hold = (accountId: string) => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    holdResponse(accountId, response, MEBIBYTE);
    open.push(response);
    return response;
  };
  for (let page = 0; page < 64; page++) hold('greedy');
  expect(() => hold('greedy')).toThrow('67108864 for bytes of responses of the account');
  // A written page counts as what is left of it.
  open[0]?.end();
  open[1]?.end();
  hold('greedy');
  const long = ['second', 'third', 'fourth', 'fifth', 'sixth'].map(hold);
  for (const response of long) response.end(Buffer.alloc(13 * MEBIBYTE));
  expect(() => hold('other')).toThrow('Too many responses are waiting to be read');
  for (const response of open) response.emit('close');
  for (const account of ['greedy', 'other']) hold(account).emit('close');
});

/** Opens as many as an account may; returns their number and the refusal. */
function fill(open: () => void): { count: number; refusal: unknown } {
  for (let count = 0; ; count++) {
    try {
      open();
    } catch (refusal) {
      return { count, refusal };
    }
  }
}

const anyResponse = () => new ServerResponse(new IncomingMessage(new Socket()));

test('the bodies of an account come to no more than the process has left', () => {
  const piece = 64 * 1024;
  const accounts = ['a', 'b', 'c', 'd', 'e'].map((account) => {
    const response = Object.assign(anyResponse(), { locals: { account } });
    const hold = holdBody({ res: response } as never);
    return { response, ...fill(() => hold(piece)) };
  });
  const held = accounts.map(({ count }) => (count * piece) / MEBIBYTE);
  expect(held).toEqual([16, 16, 16, 8, 4]);
  expect(accounts.at(-1)?.refusal).toMatchObject({ status: 503, code: 'unavailable' });
  for (const { response } of accounts) response.emit('close');
});

test('the pages that an account requests come to no more than the process has left', async () => {
  const open: ServerResponse[] = [];
  const hold = (accountId: string, bytes: number) => {
    const response = anyResponse();
    holdResponse(accountId, response, bytes);
    open.push(response);
  };
  const pages = ['a', 'b', 'c'].map((account) => fill(() => hold(account, MEBIBYTE)).count);
  expect(pages).toEqual([64, 32, 16]);
  // Event streams, whose events may be as long, count with the first one.
  hold('d', 8 * MEBIBYTE);
  hold('e', 8 * MEBIBYTE);
  const caller = await pipeline.account(0);
  const id = await pipeline.upload(caller, 'email\na@b.example\n', { operation: 'people.enrich' });
  const events = () => pipeline.call(caller, `/v1/batches/${id}/events`);
  await expectProblem(await events(), { status: 503, code: 'unavailable' });
  for (const response of open) response.emit('close');
  const stream = await events();
  expect(stream.status).toBe(200);
  await stream.body?.cancel();
});

test('a free response that was requested before others were left unread is refused', async () => {
  const { accountId } = await pipeline.account(0);
  const caller = await pipeline.keyOf(accountId, 'live', ['account']);
  const [locked, left] = [new Signal(), new Signal()];
  const holding = pipeline.sql.begin(async (tx) => {
    await tx`lock table webhooks`;
    locked.raise();
    await left.raised;
  });
  await locked.raised;
  const page = pipeline.call(caller, '/v1/webhooks');
  await pipeline.untilBlocked(1);
  const unread = anyResponse();
  holdResponse(caller.accountId, unread, 0);
  unread.end(Buffer.alloc(17 * MEBIBYTE));
  left.raise();
  await holding;
  await expectProblem(await page, { status: 429, code: 'rate_limited' });
  unread.emit('close');
});
