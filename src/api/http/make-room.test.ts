import { createServer } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { makeRoom } from './make-room.ts';

/** Fills a server, and counts the connections that are looked at for a further one of `address`. */
function fill({ addresses, isBusy }: { addresses: readonly string[]; isBusy: boolean }) {
  const server = createServer();
  let looked = 0;
  const room = makeRoom(server, { connectionsMax: addresses.length, headBytesMax: 20_000 }, () => {
    looked++;
    return isBusy;
  });
  const add = (address: string) => {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: address });
    server.emit('connection', socket);
    return socket;
  };
  const sockets = addresses.map(add);
  if (isBusy) for (const socket of sockets) room.enter(socket, 1);
  return { sockets, add, looks: () => looked, room };
}

const many = (address: string) => Array.from({ length: 1000 }, () => address);

test('a new connection is closed without a look at those of its address that have requests', () => {
  const { sockets, add, looks, room } = fill({ addresses: many('192.0.2.1'), isBusy: true });
  expect(add('192.0.2.1').destroyed).toBe(true);
  expect(looks()).toBe(0);
  const [first, second] = sockets;
  if (second !== undefined) room.leave(second, 1);
  add('192.0.2.1');
  expect([first?.destroyed, second?.destroyed]).toEqual([false, true]);
  expect(looks()).toBe(0);
});

test('none of an address whose connections have no requests is asked whether it waits for its client', () => {
  const { sockets, add, looks } = fill({ addresses: many('192.0.2.1'), isBusy: false });
  add('192.0.2.2');
  expect(sockets[0]?.destroyed).toBe(true);
  expect(looks()).toBe(0);
});

test('of those of another address that wait for their clients the first one is closed, and no further one looked at', () => {
  const { sockets, add, looks } = fill({ addresses: many('192.0.2.1'), isBusy: true });
  add('192.0.2.2');
  expect(sockets[0]?.destroyed).toBe(true);
  expect(looks()).toBe(1);
});

test('for a head that is one too many the oldest long one is closed, of the address with most, that waits for its client', () => {
  const { sockets, looks, room } = fill({
    addresses: [...many('192.0.2.1'), '192.0.2.2', '192.0.2.3'],
    isBusy: true,
  });
  const [, long, longer] = sockets;
  const [small, other] = sockets.slice(-2);
  for (const socket of [long, longer, other]) if (socket !== undefined) room.enter(socket, 6000);
  if (small !== undefined) room.enter(small, 1000);
  expect([long, longer, small, other].map((one) => one?.destroyed)).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(looks()).toBe(1);
});

test('when none waits for its client a short head closes the oldest long one, and a long head itself', () => {
  const { sockets, room } = fill({ addresses: Array(6).fill('192.0.2.1'), isBusy: false });
  for (const socket of sockets.slice(0, 3)) room.enter(socket, 6000);
  const [first, , , long, short] = sockets;
  if (long !== undefined) room.enter(long, 6000);
  if (short !== undefined) room.enter(short, 2500);
  expect([first, long, short].map((one) => one?.destroyed)).toEqual([true, true, false]);
  if (short !== undefined) room.leave(short, 2500);
  const last = sockets[5];
  if (last !== undefined) room.enter(last, 8000);
  expect(last?.destroyed).toBe(false);
});

test('a connection of an address whose closed ones have not ended yet is counted when they have', () => {
  const { sockets, add, room } = fill({ addresses: Array(2).fill('192.0.2.1'), isBusy: true });
  for (const socket of sockets) room.enter(socket, 30_000);
  sockets[0]?.emit('close');
  const first = add('192.0.2.1');
  sockets[1]?.emit('close');
  const later = [add('192.0.2.1'), add('192.0.2.1')];
  expect([first, ...later].map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
});
