import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import express from 'express';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { simulateTestOutcome } from '../../core/enrich/magic-identifiers.ts';
import { openShare } from '../../core/limits/shares.ts';
import { searchTimeout } from '../../core/search/page.ts';
import { objectMissing } from '../../core/storage/object-store.ts';
import { resultChanging } from '../../jobs/result/read-part.ts';
import { renderProblems } from './problem.ts';

/** Returns the response to a request whose route throws, and the lines of the log. */
async function respondWith(work: () => unknown) {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)) as Record<string, unknown>);
        done();
      },
    }),
  );
  const app = express();
  app.get('/', () => work());
  app.use(renderProblems(log));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`);
    const body = (await response.json()) as { code: string; detail: string };
    return { status: response.status, body, lines };
  } finally {
    server.close();
  }
}

test.each([
  ['ENOSPC', 'The service cannot write its files: its disk may be full. Try again later.'],
  ['EDQUOT', 'The service cannot write its files: its disk may be full. Try again later.'],
  ['ENOENT', 'The service cannot write its files: its disk may be full. Try again later.'],
  // Of a statement that an operator cancelled: those of searches have an error of their own.
  ['57014', 'The service cannot reach its database. Try again in a moment.'],
  ['ECONNREFUSED', 'The service cannot reach its database. Try again in a moment.'],
])('a transient %s is a 503 that names the part that is away', async (code, detail) => {
  const { status, body, lines } = await respondWith(() => {
    throw Object.assign(new Error(code), { code, syscall: 'mkdir' });
  });
  expect(status).toBe(503);
  expect(body).toMatchObject({ code: 'unavailable', detail });
  expect(lines).toMatchObject([{ level: 50, err: { stack: expect.any(String) } }]);
});

/** Waits in a share whose one slot is taken, for a millisecond. */
function waitInShare() {
  const limits = { inFlightMax: 1, accountInFlightMax: 1, accountWaitingMax: 1, waitMsMax: 1 };
  const share = openShare({ ...limits, name: 'searches' });
  const { signal } = new AbortController();
  void share('a', signal, () => new Promise(() => {}));
  return share('a', signal, async () => null);
}

const fail = (error: unknown) => () => {
  throw error;
};

test.each([
  ['the wait for a turn in the share of an account', waitInShare, 'unavailable'],
  ['a result that changes while it is read', fail(resultChanging()), 'result_changing'],
  ['a search that takes too long', fail(searchTimeout(new Error('57014'))), 'search_timeout'],
  ['the 503 of test mode', () => simulateTestOutcome('email', '503@test.example'), 'unavailable'],
])('%s is a 503 and a warning without a stack', async (_what, work, code) => {
  const { status, body, lines } = await respondWith(work);
  expect(status).toBe(503);
  expect(body).toMatchObject({ code });
  expect(lines).toMatchObject([{ level: 40, code, route: '/', msg: body.detail }]);
  expect(JSON.stringify(lines)).not.toContain('stack');
});

test('a stored object that is missing is a 503 and an error', async () => {
  const { status, lines } = await respondWith(fail(objectMissing('a', undefined)));
  expect(status).toBe(503);
  expect(lines).toMatchObject([{ level: 50, err: { code: 'object_missing' } }]);
});
