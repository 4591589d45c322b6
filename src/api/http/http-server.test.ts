import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import express, { type Response } from 'express';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openSocket } from '../../../tests/support/raw-http.ts';
import { must } from '../../core/lib/assert.ts';
import { takeThreadTurn } from '../../core/limits/thread-turns.ts';
import { createHttpServer, type HttpLimits, httpLimits, limitRequest } from './http-server.ts';

let server: Server | undefined;
afterEach(() => {
  server?.close().closeAllConnections();
  server = undefined;
});

/** Serves requests whose responses the test ends; resolves with these, and with a call that is answered at once. */
async function serve(changed: Partial<HttpLimits> = {}) {
  const taken: Response[] = [];
  const app = express()
    .use(limitRequest(httpLimits, () => false))
    .get('/moment', (_request, response) => {
      response.json({});
    })
    .use((_request, response) => {
      taken.push(response);
    });
  server = createHttpServer(app, { ...httpLimits, ...changed }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const moment = () => fetch(`http://127.0.0.1:${port}/moment`);
  return { taken, port, moment, open: () => openSocket(port), socket: await openSocket(port) };
}
const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

test('requests and responses have the prototypes of the application before it gets them', async () => {
  const app = express().get('/', (_request, response) => {
    response.json({ isServed: true });
  });
  const found: (IncomingMessage | ServerResponse)[] = [];
  server = createHttpServer(app, httpLimits, (request, response) => {
    found.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response));
    app(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { Connection: 'close' } });
  expect(await answer.json()).toEqual({ isServed: true });
  expect([found[0] === app.request, found[1] === app.response]).toEqual([true, true]);
});

describe('of requests that are sent before the response to the one before them', () => {
  test('each is processed after it, and none when the connection closes', async () => {
    const { taken, moment, socket } = await serve();
    socket.write(get.repeat(3));
    while (taken.length === 0) await moment();
    expect(taken).toHaveLength(1);
    taken[0]?.end();
    while (taken.length === 1) await moment();
    expect(taken).toHaveLength(2);
    socket.destroy();
    await once(taken[1] as Response, 'close');
    await moment();
    expect(taken).toHaveLength(2);
  });

  test('one with a body ends the connection', async () => {
    const { taken, moment, socket } = await serve();
    const closed = once(socket.resume(), 'close');
    socket.write(`${get}POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx`);
    while (taken.length === 0) await moment();
    expect(taken).toHaveLength(1);
    await closed;
  });

  test.each([
    ['', get],
    [', with an expectation that is not known', get.replace('x\r\n', 'x\r\nExpect: y\r\n')],
  ])('no more are parsed when the connection has ended for their number%s', async (_name, text) => {
    const { taken, moment, socket } = await serve();
    let parsed = 0;
    for (const event of ['request', 'checkExpectation'])
      server?.prependListener(event, ({ url }: IncomingMessage) => {
        if (url === '/') parsed++;
      });
    const closed = once(socket.on('error', () => {}).resume(), 'close');
    socket.write(get + text.repeat(500));
    await closed;
    await moment();
    expect(taken).toHaveLength(1);
    expect(parsed).toBeLessThan(10);
  });

  test('so many of all connections wait, until theirs close', async () => {
    const { taken, moment, open, socket } = await serve({ waitingMax: 1 });
    const second = await open();
    const refused = once(second.resume(), 'close');
    socket.write(get.repeat(2));
    while (taken.length < 1) await moment();
    second.write(get.repeat(2));
    await refused;
    socket.destroy();
    await once(taken[0] as Response, 'close');
    const third = await open();
    third.write(get.repeat(2));
    while (taken.length < 3) await moment();
    taken[2]?.end();
    while (taken.length < 4) await moment();
    expect(third.destroyed).toBe(false);
  });
});

test('requests with the longest heads, whose bodies do not come, keep no more than 16 MiB of them', async () => {
  const connections = 900;
  const { taken, open, moment } = await serve();
  const heads = `${'h: '.padEnd(155, 'x')}\r\n`.repeat(98);
  for (let index = 0; index < connections; index++) {
    const socket = await open();
    socket.on('error', () => {});
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n${heads}\r\n`);
  }
  while (taken.length < connections) expect((await moment()).status).toBe(200);
  const left = taken.filter(({ req: { socket } }) => !socket.destroyed);
  expect(left.length).toBeGreaterThan(600);
  expect(left.length).toBeLessThan(700);
});

describe('of heads that have not arrived in full', () => {
  // As many as a request may have: from 24.21 on Node itself refuses one with more.
  const many = `${'n'.repeat(57)}: ${'x'.repeat(56)}\r\n`.repeat(98);
  // So few that Node keeps them outside of the heap.
  const few = `n: ${'x'.repeat(11_970)}\r\n`;
  const host = 'GET / HTTP/1.1\r\nHost: x\r\n';
  const afterRequest = `GET /moment HTTP/1.1\r\nHost: x\r\n\r\n${host}`;
  const lastChunk = `${host}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n`;

  test.each([
    ['the head of a request', 235_000, host + many],
    ['a short head with long lines', 90_000, host + few],
    ['a head after a request', 235_000, afterRequest + many],
    ['a short head after a request', 90_000, afterRequest + few],
    ['trailers', 235_000, lastChunk + many],
    ['few trailers', 90_000, lastChunk + few],
  ])(
    'those of %s keep no more than the maximum, and the newest stay',
    async (_name, headBytesMax, text) => {
      const { open, moment } = await serve({ headBytesMax });
      const sockets: Socket[] = [];
      for (let index = 0; index < 12; index++) {
        const socket = (await open()).on('error', () => {}).resume();
        socket.write(text);
        sockets.push(socket);
        await moment();
      }
      const left = () => sockets.filter((socket) => !socket.closed);
      while (left().length > 6) await moment();
      for (let round = 0; round < 100; round++) await moment();
      expect(left()).toEqual(sockets.slice(-6));
    },
  );

  test('those of heads one after the other count until there is a moment between two', async () => {
    const { moment, open, socket } = await serve({ headBytesMax: 90_000 });
    const head = afterRequest.slice(0, -host.length);
    const [first, rest] = [head.slice(0, -2) + few, '\r\n'];
    const other = (await open()).resume();
    for (const one of [other, socket]) one.setNoDelay();
    const closed = once(socket.on('error', () => {}).resume(), 'close');
    for (let index = 0; index < 12; index++) {
      for (const one of [other, socket])
        one.write(index === 0 || one === other ? first : rest + first);
      await moment();
      other.write(rest);
      await moment();
    }
    await closed;
    expect(other.closed).toBe(false);
  });

  test('none stays outside of the heap once the head has arrived', async () => {
    const { moment, open } = await serve();
    const sockets = await Promise.all(Array.from({ length: 200 }, open));
    for (const one of sockets) one.setNoDelay();
    const outsideOfHeap = () => {
      const { rss, heapTotal, external } = process.memoryUsage();
      return rss - heapTotal - external;
    };
    let before = 0;
    // Each head has its long line one place earlier than the one before it: Node frees those that a head takes again.
    for (let place = 30; place > 0; place--) {
      const lines = 'a: b\r\n'.repeat(place - 1) + few;
      for (const one of sockets) one.write(`GET /moment HTTP/1.1\r\nHost: x\r\n${lines}`);
      await moment();
      await Promise.all(
        sockets.map((one) => {
          one.write('\r\n');
          return once(one, 'data');
        }),
      );
      if (place === 28) before = outsideOfHeap();
    }
    expect((outsideOfHeap() - before) / 2 ** 20).toBeLessThan(32);
  });
});

test('the trailers of a body do not stay in memory while its response takes', async () => {
  const { taken, moment, socket } = await serve();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na: b\r\n\r\n');
  while (taken[0]?.req.complete !== true) await moment();
  expect([taken[0].req.rawTrailers, taken[0].req.trailers]).toEqual([[], {}]);
});

test('a hundred connections that come at once are accepted before as many pieces of a download are read', async () => {
  const { open } = await serve();
  const connections = Promise.all(Array.from({ length: 100 }, open));
  let accepted = 0;
  server?.on('connection', () => accepted++);
  let pieces = 0;
  while (accepted < 100) {
    await takeThreadTurn({ accountId: 'one', signal: new AbortController().signal });
    pieces++;
  }
  await connections;
  expect(pieces).toBeLessThan(50);
});

test('the body of a GET does not stay in memory while its response takes', async () => {
  const { taken, moment, socket } = await serve();
  const body = 'x'.repeat(50_000);
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  while (taken[0]?.req.complete !== true) await moment();
  expect(taken[0].req.readableLength).toBe(0);
});

test.each([
  ['without a body', get],
  ['with a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx'],
  [
    'with a body in chunks',
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n',
  ],
])(
  'a request %s, and its response, are let go while their connection is open',
  async (_name, text) => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { taken, moment, socket } = await serve();
    socket.write(text);
    while (taken.length === 0) await moment();
    const left = taken.splice(0).map((response) => {
      response.end();
      return [new WeakRef(response), new WeakRef(response.req)];
    });
    await once(socket, 'data');
    await vi.waitUntil(() => {
      collect();
      return left.flat().every((one) => one.deref() === undefined);
    });
    expect(socket.closed).toBe(false);
  },
);

test('little of bodies in chunks of a byte is read in each round of the event loop, also once they are refused', async () => {
  const { taken, moment, open } = await serve();
  const accepted: Socket[] = [];
  server?.on('connection', (socket) => accepted.push(socket));
  const clients = await Promise.all(Array.from({ length: 4 }, open));
  for (const client of clients) {
    client.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  }
  while (taken.length < 4) await moment();
  for (const response of taken) response.end();
  const bytesRead = () => accepted.reduce((sum, socket) => sum + socket.bytesRead, 0);
  const chunks = Buffer.from('1\r\nx\r\n'.repeat(200_000));
  for (const client of clients) client.write(chunks);
  const end = bytesRead() + chunks.length;
  let most = 0;
  for (let before = bytesRead(); before < end; ) {
    await nextRound();
    const now = bytesRead();
    most = Math.max(most, now - before);
    before = now;
  }
  expect(most).toBeLessThanOrEqual(8 * 64 * 1024);
});

describe.runIf(process.platform === 'linux')(
  'when another address has all connections, a new one',
  () => {
    const moment = 'GET /moment HTTP/1.1\r\nHost: x\r\n\r\n';

    test.each([
      ['has not sent its body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n', ''],
      ['does not read its response', get, 'x'.repeat(50_000_000)],
    ])('takes the place of one whose client %s', async (_name, request, body) => {
      const { taken, port, socket } = await serve({ connectionsMax: 1 });
      socket
        .on('error', () => {})
        .pause()
        .write(request);
      while (taken.length === 0) await nextRound();
      if (body !== '') taken[0]?.write(body);
      const closed = once(must(taken[0]?.socket, 'connection'), 'close');
      const newcomer = connect({ port, localAddress: '127.0.0.3' });
      newcomer.write(moment);
      const [answer] = (await once(newcomer, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
      await closed;
      newcomer.destroy();
    });

    test('takes that of one without a request before that of an upload of an address that has few', async () => {
      const few = 2;
      const idle = 28;
      const { taken, port, open, socket } = await serve({ connectionsMax: few + idle });
      const uploading = [socket, await open()];
      for (const one of uploading)
        one.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n');
      while (taken.length < few) await nextRound();
      const others = Array.from({ length: idle }, (_, index) =>
        connect({ port, localAddress: `127.0.0.${100 + index}` }),
      );
      await Promise.all(others.map((one) => once(one, 'connect')));
      const closed = Promise.race([...others, ...uploading].map((one) => once(one, 'close')));
      const newcomer = connect({ port, localAddress: '127.0.0.3' });
      newcomer.write(moment);
      const [answer] = (await once(newcomer, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
      await closed;
      expect(uploading.map((one) => one.closed)).toEqual([false, false]);
      for (const one of [newcomer, ...others]) one.destroy();
    });

    test('does not take that of one whose request is served', async () => {
      const { taken, port, socket } = await serve({ connectionsMax: 1 });
      socket.write(get);
      while (taken.length === 0) await nextRound();
      const refused = connect({ port, localAddress: '127.0.0.3' }).on('error', () => {});
      await once(refused, 'close');
      taken[0]?.json({});
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    });
  },
);
