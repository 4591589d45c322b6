import { createServer } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { makeRoom } from './make-room.ts';

/** Fills a server, and counts the connections that are looked at for a further one of `address`. */
function fill({ addresses, isBusy }: { addresses: readonly string[]; isBusy: boolean }) {
  const server = createServer();
  let looked = 0;
  const room = makeRoom(server, addresses.length, () => {
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
  if (isBusy) for (const socket of sockets) room.enter(socket);
  return { sockets, add, looks: () => looked, room };
}

const many = (address: string) => Array.from({ length: 1000 }, () => address);

test('a new connection is closed without a look at those of its address that have requests', () => {
  const { sockets, add, looks, room } = fill({ addresses: many('192.0.2.1'), isBusy: true });
  expect(add('192.0.2.1').destroyed).toBe(true);
  expect(looks()).toBe(0);
  const [first, second] = sockets;
  if (second !== undefined) room.leave(second);
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
