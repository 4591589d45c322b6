/** Objects that work stores for a list that its caller ends or changes meanwhile are not kept: no quota counts them. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { Signal } from '../../tests/support/signal.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import { must } from '../core/lib/assert.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({
    UPLOAD_BYTES_MAX: '300000',
    STORED_BYTES_MAX: '1000000',
    BATCH_ROWS_MAX: '20000',
  });
  await importGraph(pipeline.sql, { persons: crowd(1) });
});
afterEach(() => {
  vi.restoreAllMocks();
  pipeline.queues.waiting = [];
  delete pipeline.faults.get;
  delete pipeline.faults.put;
  delete pipeline.faults.putStream;
});
afterAll(() => pipeline.close());

const options = { operation: 'people.enrich', fields: 'id' };
/** Not UTF-8, so that the split writes a copy of it. */
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const list = utf16('email\np1@list.example\n');

const objectsOf = async (id: string) =>
  (await pipeline.objects())
    .filter((key) => key.startsWith(`batches/${id}/`))
    .map((key) => key.slice(`batches/${id}/`.length));

const change = (id: string, method: string, body?: object) =>
  pipeline.call(caller, `/v1/batches/${id}`, {
    method,
    ...(body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });

/** Holds the next call of the store until `letGo`. */
function holdNext(fault: 'get' | 'put' | 'putStream'): { held: Promise<void>; letGo(): void } {
  const [held, goOn] = [new Signal(), new Signal()];
  pipeline.faults[fault] = () => {
    delete pipeline.faults[fault];
    held.raise();
    return goOn.raised;
  };
  return { held: held.raised, letGo: () => goOn.raise() };
}

/** Runs the next job of a name, and `meanwhile` before its first object is stored. */
async function runWith(
  name: 'split-batch' | 'run-chunk',
  fault: 'put' | 'putStream',
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const { held, letGo } = holdNext(fault);
  const job = must(
    pipeline.queues.waiting.find((woken) => woken.name === name),
    name,
  );
  const running = pipeline.queues.run(pipeline.context, job);
  await held;
  await meanwhile();
  letGo();
  await running;
}

test('the copy of a list that is deleted while it is split is not kept', async () => {
  caller = await pipeline.account(10);
  const id = await pipeline.upload(caller, list, options);
  const { store } = pipeline.context;
  const putStream = store.putStream.bind(store);
  vi.spyOn(store, 'putStream').mockImplementationOnce(async (key, source) => {
    // As in a bucket, where an object that is being read can still be read after its deletion.
    const read = await buffer(source);
    expect((await change(id, 'DELETE')).status).toBe(204);
    return putStream(key, Readable.from([read]));
  });
  await pipeline.runUntilIdle();
  expect(await objectsOf(id)).toEqual([]);
});

test('the copy of a list that is cancelled while it is split is not kept', async () => {
  caller = await pipeline.account(10);
  const id = await pipeline.upload(caller, list, options);
  await runWith('split-batch', 'putStream', () =>
    pipeline.call(caller, `/v1/batches/${id}/cancel`, { method: 'POST' }),
  );
  expect((await pipeline.batch(caller, id)).state).toBe('cancelled');
  expect(await objectsOf(id)).toEqual(['upload']);
});

test.each([
  ['whose result may not fit', `email${',y'.repeat(400)}\n${'x\n'.repeat(3_000)}`, 'storage_full'],
  ['with too many rows', `email\n${'a\n'.repeat(30_000)}`, 'too_many_rows'],
])('the copy of a list %s is not kept', async (_, text, code) => {
  caller = await pipeline.account(10);
  const id = await pipeline.enrich(caller, utf16(text), { ...options, mapping: '{"email":1}' });
  expect((await pipeline.batch(caller, id)).error).toMatchObject({ code });
  expect(await objectsOf(id)).toEqual(['upload']);
});

test('of a list that is read again while another call has it read again, one copy is kept', async () => {
  caller = await pipeline.account(10);
  const id = await pipeline.enrich(caller, list, { ...options, hold: 'true' });
  const { held, letGo } = holdNext('get');
  const late = change(id, 'PATCH', { encoding: 'utf-16le' });
  await held;
  expect((await change(id, 'PATCH', { encoding: 'utf-16le' })).status).toBe(200);
  await pipeline.runUntilIdle();
  letGo();
  await expectProblem(await late, { status: 409, code: 'invalid_state' });
  await pipeline.runUntilIdle();
  expect(await objectsOf(id)).toEqual([expect.stringMatching(/^canonical-/), 'upload']);
  const started = await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
  expect(started.status).toBe(202);
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({ rows: { matched: 1 } });
});

test('the former copy of a list that is read again is not kept when no worker can be woken', async () => {
  caller = await pipeline.account(10);
  const id = await pipeline.enrich(caller, list, { ...options, hold: 'true' });
  vi.spyOn(pipeline.queues, 'wake').mockRejectedValueOnce(new Error('no queue'));
  expect((await change(id, 'PATCH', { encoding: 'utf-16le' })).status).toBe(200);
  expect(await objectsOf(id)).toEqual(['upload']);
});

test('a part of a list that is deleted while it is written is not kept', async () => {
  caller = await pipeline.account(10);
  const id = await pipeline.upload(caller, list, options);
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  await runWith('run-chunk', 'put', async () => {
    expect((await change(id, 'DELETE')).status).toBe(204);
  });
  expect(await objectsOf(id)).toEqual([]);
  expect(await pipeline.wallet(caller)).toEqual({ balance: 10, reserved: 0 });
});

test('nor when its person index can no longer be written', async () => {
  caller = await pipeline.account(10);
  const id = await pipeline.upload(caller, list, options);
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  let deletion: Promise<Response> | undefined;
  pipeline.faults.put = async (key) => {
    deletion ??= change(id, 'DELETE');
    expect((await deletion).status).toBe(204);
    if (key.endsWith('.ids')) throw new Error('The folder is gone.');
  };
  await pipeline.queues.runNext(pipeline.context, 'run-chunk');
  expect(await objectsOf(id)).toEqual([]);
  expect(await pipeline.wallet(caller)).toEqual({ balance: 10, reserved: 0 });
});

test('the part of a commit whose response is lost is kept, with its person index', async () => {
  caller = await pipeline.account(10);
  const id = await pipeline.upload(caller, list, options);
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  const { context } = pipeline;
  let lost = 0;
  const losing = new Proxy(context.sql, {
    apply(sql, self, given: [TemplateStringsArray, ...unknown[]]) {
      const sent = Reflect.apply(sql, self, given);
      if (!given[0].join('').includes('insert into parts')) return sent;
      lost++;
      return sent.then(() => {
        throw Object.assign(new Error('The connection was closed.'), { code: 'CONNECTION_CLOSED' });
      });
    },
  });
  await pipeline.queues.runNext({ ...context, sql: losing }, 'run-chunk');
  expect(lost).toBe(1);
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'completed',
    credits: { charged: 1, reserved: 0 },
  });
  expect((await pipeline.results(caller, id)).complete).toBe('true');
  expect((await objectsOf(id)).filter((key) => key.startsWith('parts/'))).toHaveLength(2);
});
