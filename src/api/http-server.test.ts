import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { expect, test } from 'vitest';
import { createHttpServer, httpLimits } from './http-server.ts';

test('requests and responses have the prototypes of the application before it gets them', async () => {
  const app = express().get('/', (_request, response) => {
    response.json({ isServed: true });
  });
  const found: (IncomingMessage | ServerResponse)[] = [];
  const server = createHttpServer(app, httpLimits, (request, response) => {
    found.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response));
    app(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { Connection: 'close' } });
  expect(await answer.json()).toEqual({ isServed: true });
  server.close();
  expect([found[0] === app.request, found[1] === app.response]).toEqual([true, true]);
});
