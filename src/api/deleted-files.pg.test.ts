/** The database forgets the files of a list before the store does: one that it names and that is missing is taken for a loss. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { type LimitedServer, openSocket, serveWithLimits } from '../../tests/support/raw-http.ts';
import { Signal } from '../../tests/support/signal.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import { unavailable } from '../core/lib/errors.ts';
import { auditParts } from '../jobs/audit/audit-parts.ts';
import { diagnose } from '../jobs/backup/doctor.ts';
import { markStore } from '../jobs/batch/own-store.ts';

let pipeline: Pipeline;
let server: LimitedServer;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  server = await serveWithLimits(pipeline.context, {});
  await markStore(pipeline.context);
  await importGraph(pipeline.sql, { persons: crowd(1) });
  caller = await pipeline.account(100);
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  server.close();
  await pipeline.close();
});

const paidList = () =>
  pipeline.enrich(caller, 'email\np1@list.example\n', { operation: 'people.enrich' });

const remove = (id: string) => pipeline.call(caller, `/v1/batches/${id}`, { method: 'DELETE' });

const objectsOf = async (id: string) =>
  (await pipeline.objects()).filter((key) => key.startsWith(`batches/${id}/`));

/** No file is taken for lost, and nothing is refunded. */
async function expectNothingLost(): Promise<void> {
  const { checks } = await auditParts(pipeline.context);
  expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
  const before = await pipeline.wallet(caller);
  expect((await diagnose(pipeline.context, { fix: true })).findings).toEqual([]);
  expect(await pipeline.wallet(caller)).toEqual(before);
}

test('a caller who disconnects while the files of a paid list are deleted is not refunded for them', async () => {
  const id = await paidList();
  const { store } = pipeline.context;
  const [deleted, left, over] = [new Signal(), new Signal(), new Signal()];
  const deletePrefix = store.deletePrefix.bind(store);
  vi.spyOn(store, 'deletePrefix').mockImplementation(async (prefix) => {
    await deletePrefix(prefix);
    deleted.raise();
    await left.raised;
    // The handler goes on before this.
    setImmediate(() => over.raise());
  });
  const socket = await openSocket(server.port);
  const headers = `Host: x\r\nAuthorization: Bearer ${caller.key}`;
  socket.write(`DELETE /v1/batches/${id} HTTP/1.1\r\n${headers}\r\n\r\n`);
  await deleted.raised;
  socket.destroy();
  await vi.waitUntil(async () => (await server.connections()) === 0);
  left.raise();
  await over.raised;
  expect(await objectsOf(id)).toEqual([]);
  await expectNothingLost();
});

test('a list of which the store could delete some files is deleted, and the others with the next call', async () => {
  const id = await paidList();
  const { store } = pipeline.context;
  vi.spyOn(store, 'deletePrefix').mockImplementationOnce(async (prefix) => {
    await store.delete(`${prefix}upload`);
    throw unavailable('store_unavailable', 'AccessDenied');
  });
  expect((await remove(id)).status).toBe(503);
  expect(await objectsOf(id)).not.toEqual([]);
  expect((await pipeline.call(caller, `/v1/batches/${id}/results`)).status).toBe(410);
  await expectNothingLost();
  expect((await remove(id)).status).toBe(204);
  expect(await objectsOf(id)).toEqual([]);
});

test.each([
  ['GET', 'results'],
  ['GET', 'ambiguous'],
  ['POST', 'rerun'],
])('%s %s of a list that is deleted while it is read: 410', async (method, what) => {
  const id = await paidList();
  const { faults } = pipeline;
  faults.get = async () => {
    delete faults.get;
    expect((await remove(id)).status).toBe(204);
  };
  const response = await pipeline.call(caller, `/v1/batches/${id}/${what}`, {
    method,
    ...(method === 'POST' && {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ outcomes: ['no_match'] }),
    }),
  });
  await expectProblem(response, { status: 410, code: 'files_expired' });
});
