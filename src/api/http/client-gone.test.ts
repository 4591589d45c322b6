import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import express, { type Response } from 'express';
import { expect, test } from 'vitest';
import { openSocket } from '../../../tests/support/raw-http.ts';
import { sendStream } from './client-gone.ts';
import { createHttpServer } from './http-server.ts';

test('a stream for a response that was closed with its connection ends', async () => {
  let take: (response: Response) => void = () => {};
  const taken = new Promise<Response>((resolve) => {
    take = resolve;
  });
  const app = express().use((_request, response) => take(response));
  const server = createHttpServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = await openSocket((server.address() as AddressInfo).port);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const response = await taken;
  const closed = once(response, 'close');
  socket.destroy();
  await closed;
  const stream = Readable.from([Buffer.from('rows')]);
  await expect(sendStream(stream, response)).rejects.toMatchObject({ code: 'client_gone' });
  expect(stream.destroyed).toBe(true);
  server.close();
});
