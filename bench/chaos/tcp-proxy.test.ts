import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { TcpProxy, type Toxic } from './tcp-proxy.ts';

let echo: Server;
let proxy: TcpProxy;
const sockets = new Set<Socket>();

beforeAll(async () => {
  echo = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await TcpProxy.open(() => (echo.address() as AddressInfo).port);
});
afterEach(() => {
  proxy.behave({ kind: 'none' });
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  echo.close();
});

function open(): Socket {
  const socket = connect({ port: proxy.port, host: '127.0.0.1' });
  socket.on('error', () => {});
  sockets.add(socket);
  return socket;
}

/** However it ended. */
function untilClosed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => {
    socket.once('close', resolve);
  });
}

/** Sends a text, and resolves with `length` bytes of the reply. */
async function say(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  let heard = '';
  while (heard.length < text.length) {
    const [data] = (await once(socket, 'data')) as [Buffer];
    heard += data.toString('latin1');
  }
  return heard;
}

test.each<Toxic>([
  { kind: 'none' },
  { kind: 'latency', ms: 20 },
  { kind: 'slice', bytes: 7, ms: 1 },
])('$kind changes no byte and no order', async (toxic) => {
  const socket = open();
  expect(await say(socket, 'before')).toBe('before');
  proxy.behave(toxic);
  const long = Array.from({ length: 30_000 }, (_, index) => String(index)).join(' ');
  expect(await say(socket, long)).toBe(long);
});

test('a blackhole keeps the connection and its data until it ends', async () => {
  const socket = open();
  await say(socket, 'before');
  proxy.behave({ kind: 'blackhole' });
  let heard = 0;
  socket.on('data', () => {
    heard += 1;
  });
  const answer = say(socket, 'into the dark');
  // Another round trip through the event loop: a leaking proxy would have delivered it.
  const other = open();
  await once(other, 'connect');
  expect(heard).toBe(0);
  proxy.behave({ kind: 'none' });
  expect(await answer).toBe('into the dark');
});

test.each<Toxic>([{ kind: 'cut' }, { kind: 'reset' }])('$kind ends connections', async (toxic) => {
  const socket = open();
  await say(socket, 'before');
  const closed = untilClosed(socket);
  proxy.behave(toxic);
  await closed;
});

test('while cut, a new connection ends at once; after a reset it works', async () => {
  proxy.behave({ kind: 'cut' });
  await untilClosed(open());
  proxy.behave({ kind: 'reset' });
  expect(await say(open(), 'again')).toBe('again');
});

test('unavailable responds 503 in place of an HTTP server', async () => {
  proxy.behave({ kind: 'unavailable' });
  const answer = await fetch(`http://127.0.0.1:${proxy.port}/`);
  expect(answer.status).toBe(503);
});
