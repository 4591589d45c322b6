/** Operators that disconnect before the response to their file. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openSocket, serveWithLimits } from '../../../tests/support/raw-http.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { type Importing, openImporting } from './imports.test-suite.ts';

let importing: Importing;
beforeAll(async () => {
  importing = await openImporting(100_000);
});
afterAll(() => importing.pipeline.close());

test('a file whose client left after its last byte leaves nothing', async () => {
  const { context, sql, objects } = importing.pipeline;
  const [stored, gone] = [new Signal(), new Signal()];
  const store: typeof context.store = {
    ...context.store,
    async putStream(key, source) {
      const sum = await context.store.putStream(key, source);
      stored.raise();
      await gone.raised;
      return sum;
    },
  };
  const server = await serveWithLimits({ ...context, store }, {});
  const socket = await openSocket(server.port);
  const headers = `Host: x\r\nAuthorization: Bearer ${importing.operator.key}\r\nContent-Length: 8`;
  socket.write(`POST /admin/import-runs?name=a.csv HTTP/1.1\r\n${headers}\r\n\r\nemail\na\n`);
  await stored.raised;
  const [run] = await sql`select id, state from import_runs`;
  expect(run).toMatchObject({ state: 'receiving' });
  // It takes no other file, which would be deleted with it.
  const path = `/admin/import-runs/${run?.id}/files`;
  expect((await importing.upload('b.csv', 'email\nb\n', { path })).status).toBe(404);
  socket.destroy();
  await vi.waitUntil(async () => (await server.connections()) === 0);
  gone.raise();
  const runs = async () => (await sql`select from import_runs`).length;
  await vi.waitUntil(async () => (await runs()) === 0, { timeout: 20_000 });
  expect(await objects()).toEqual([]);
  server.close();
});
