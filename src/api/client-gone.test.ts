import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import express, { type Response } from 'express';
import { expect, test } from 'vitest';
import { openSocket } from '../../tests/support/raw-http.ts';
import { Signal } from '../../tests/support/signal.ts';
import { sendStream } from './client-gone.ts';
import { createHttpServer } from './http-server.ts';

test('responses that wait for their turn are closed with their connection, and streams for them end', async () => {
  const taken: Response[] = [];
  const all = new Signal();
  const app = express().use((_request, response) => {
    if (taken.push(response) === 3) all.raise();
  });
  const server = createHttpServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = await openSocket((server.address() as AddressInfo).port);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3));
  await all.raised;
  const closed = Promise.all(taken.map((response) => once(response, 'close')));
  socket.destroy();
  await closed;
  for (const response of taken) {
    expect(response.destroyed).toBe(true);
    const stream = Readable.from([Buffer.from('rows')]);
    await expect(sendStream(stream, response)).rejects.toMatchObject({ code: 'client_gone' });
    expect(stream.destroyed).toBe(true);
  }
  server.close();
});
