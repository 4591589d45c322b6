import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { expect, test } from 'vitest';
import { createLog } from '../../core/log.ts';
import { renderProblems } from './problem.ts';

test.each([
  ['ENOSPC', 'The service cannot write its files: its disk may be full. Try again later.'],
  ['EDQUOT', 'The service cannot write its files: its disk may be full. Try again later.'],
  ['ENOENT', 'The service cannot write its files: its disk may be full. Try again later.'],
  // Of a statement that an operator cancelled: those of searches have an error of their own.
  ['57014', 'The service cannot reach its database. Try again in a moment.'],
  ['ECONNREFUSED', 'The service cannot reach its database. Try again in a moment.'],
])('a transient %s is a 503 that names the part that is away', async (code, detail) => {
  const app = express();
  app.get('/', () => {
    throw Object.assign(new Error(code), { code, syscall: 'mkdir' });
  });
  app.use(renderProblems(createLog('silent', 'api')));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'unavailable', detail });
  } finally {
    server.close();
  }
});
