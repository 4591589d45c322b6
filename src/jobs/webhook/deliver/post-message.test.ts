import { once } from 'node:events';
import { type AddressInfo, createServer, type LookupFunction, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Signal } from '../../../../tests/support/signal.ts';
import {
  openReceiver,
  type Receiver,
  withStatus,
} from '../../../../tests/support/webhook-receiver.ts';
import { hostileUrls, resolveStub } from '../hostile-urls.test-suite.ts';
import { postMessage } from './post-message.ts';

const rules = { allowedHosts: ['127.0.0.1'], resolve: resolveStub };
const send = (url: string, timeoutMs?: number) =>
  postMessage({ url, headers: { 'webhook-id': 'a' }, body: '{"ä":1}' }, rules, timeoutMs);

let receiver: Receiver;
beforeEach(async () => {
  receiver = await openReceiver();
});
afterEach(() => {
  receiver.close();
  vi.restoreAllMocks();
});

/** A server that writes raw bytes and reports how many were sent. */
async function openRaw(talk: (socket: Socket) => void) {
  const closed = new Signal();
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('close', () => closed.raise());
    socket.once('data', () => talk(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** Resolves when the connection is closed. */
    closed: closed.raised,
    close: () => server.close(),
  };
}

describe('a response', () => {
  test('of any 2xx is a success; the message arrives whole', async () => {
    for (const status of [200, 201, 202, 204, 299]) {
      receiver.answers.push(withStatus(status));
      expect(await send(`${receiver.url}hook?a=b`)).toMatchObject({ status, error: null });
    }
    expect(receiver.received[0]).toMatchObject({
      path: '/hook?a=b',
      body: '{"ä":1}',
      headers: { 'webhook-id': 'a', 'content-length': '8' },
    });
    expect(receiver.received[0]?.headers['accept-encoding']).toBeUndefined();
  });

  test.each([400, 401, 404, 410, 429, 500, 503])('of %i is a failure', async (status) => {
    receiver.answers.push(withStatus(status, { 'Retry-After': '7' }));
    expect(await send(receiver.url)).toMatchObject({
      status,
      error: `responded ${status}`,
      retryAfter: '7',
    });
  });

  test.each([301, 302, 303, 307, 308])(
    'of %i is a failure, and is not followed',
    async (status) => {
      receiver.answers.push(withStatus(status, { Location: `${receiver.url}elsewhere` }));
      const { error } = await send(receiver.url);
      expect(error).toBe(`responded ${status}; redirects are not followed`);
      expect(receiver.received.map(({ path }) => path)).toEqual(['/']);
    },
  );
});

describe('a receiver', () => {
  test('that cannot be reached is reported as such', async () => {
    const { url } = receiver;
    receiver.close();
    expect(await send(url)).toMatchObject({
      status: null,
      error: 'cannot be reached: ECONNREFUSED',
    });
  });

  test('without a trusted certificate is not sent anything', async () => {
    const { error } = await send(receiver.url.replace('http:', 'https:'));
    expect(error).toMatch(/^cannot be reached: /);
    expect(receiver.received).toEqual([]);
  });

  test('that never responds times out', async () => {
    const silent = await openRaw(() => {});
    expect(await send(silent.url, 100)).toMatchObject({
      status: null,
      error: 'no response within 0.1 s',
    });
    await silent.closed;
    silent.close();
  });

  test('that drips its response headers times out', async () => {
    const drip = await openRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('X-Drip: a\r\n'), 5);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await send(drip.url, 100)).toMatchObject({ status: null });
    await drip.closed;
    drip.close();
  });

  test('that drips its body has responded, and is cut off', async () => {
    const drip = await openRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
      const timer = setInterval(() => socket.write('a'), 5);
      socket.on('close', () => clearInterval(timer));
    });
    const { status, error, durationMs } = await send(drip.url, 100);
    expect({ status, error }).toEqual({ status: 200, error: null });
    expect(durationMs).toBeLessThan(5_000);
    await drip.closed;
    drip.close();
  });

  test.each([
    ['head', 'HTTP/1.1 200 OK\r\nX-A: ', 'a', null],
    ['body', 'HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n', 'a', 200],
    ['series of interim responses', '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', null],
    ['series of blank lines', '', '\r\n', null],
  ])('with an endless %s is cut off early', async (_part, head, text, status) => {
    let sent = 0;
    const endless = await openRaw((socket) => {
      const block = Buffer.from(text.repeat(65_536 / text.length));
      const more = () => {
        while (!socket.destroyed && socket.write(block)) sent += block.length;
        sent += block.length;
      };
      socket.on('drain', more);
      socket.write(head);
      more();
    });
    expect((await send(endless.url)).status).toBe(status);
    await endless.closed;
    // As much as the buffers of two sockets hold, not a gigabyte.
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    endless.close();
  });

  test('that sends a decompression bomb does not have it inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    receiver.answers.push((response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb);
    });
    const before = process.memoryUsage().rss;
    expect(await send(receiver.url)).toMatchObject({ status: 200, error: null });
    expect(process.memoryUsage().rss - before).toBeLessThan(40 * 1024 * 1024);
  });

  test.each([
    ['speaks no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    [
      'changes the protocol',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: Upgrade\r\n\r\n',
    ],
    ['hangs up', ''],
  ])('that %s is a failure', async (_what, text) => {
    const odd = await openRaw((socket) => socket.end(text));
    expect(await send(odd.url)).toMatchObject({
      status: null,
      error: expect.stringMatching(/^cannot be reached: /),
    });
    odd.close();
  });
});

describe('the target of a message', () => {
  /** Blocks all connections and records their targets. */
  function watchConnections(): string[][] {
    const connected: string[][] = [];
    vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (
      this: Socket,
      ...all: unknown[]
    ) {
      const [options] = all.flat() as [{ host: string; lookup?: LookupFunction }];
      options.lookup?.(options.host, { all: true }, (_error, found) => {
        connected.push((found as { address: string }[]).map(({ address }) => address));
      });
      if (options.lookup === undefined) connected.push([options.host]);
      setImmediate(() => this.destroy(new Error('not connected by this test')));
      return this;
    });
    return connected;
  }

  test.each(hostileUrls)('is never %s', async (url) => {
    const connected = watchConnections();
    const strict = { ...rules, allowedHosts: [] };
    const { status, error } = await postMessage({ url, headers: {}, body: '{}' }, strict);
    expect({ status, error }).toEqual({
      status: null,
      error: expect.stringMatching(/^the address /),
    });
    expect(connected).toEqual([]);
  });

  test('is the addresses that were checked, whatever the name resolves to a moment later', async () => {
    const connected = watchConnections();
    const answers = [['93.184.216.34', '93.184.216.35'], ['10.0.0.1'], ['127.0.0.1']];
    const resolve = vi.fn(async () => answers.shift() ?? []);
    const rebinding = { allowedHosts: [], resolve };
    const message = { url: 'https://rebind.example/', headers: {}, body: '{}' };
    const first = await postMessage(message, rebinding);
    expect(first.error).toBe('cannot be reached: not connected by this test');
    expect(connected).toEqual([['93.184.216.34', '93.184.216.35']]);
    expect(resolve).toHaveBeenCalledTimes(1);
    const second = await postMessage(message, rebinding);
    expect(second.error).toBe('the address must resolve to public addresses only');
    expect(connected).toHaveLength(1);
  });

  test('is given up when name servers take longer than the attempt may', async () => {
    const resolve = () => new Promise<string[]>(() => {});
    const slow = { allowedHosts: [], resolve };
    const message = { url: 'https://slow.example/', headers: {}, body: '{}' };
    expect((await postMessage(message, slow, 50)).error).toBe('no response within 0.05 s');
  });
});
