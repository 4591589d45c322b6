/** The redaction of stored results: of which an object is damaged, of many, and while parts are written. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { must } from '../../core/lib/assert.ts';
import { lastSuppression } from '../../core/suppression/opted-out-people.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { openRedactedParts } from './redact-parts.ts';
import { listBatchesDueForRedaction } from './redaction.sql.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(3) });
  caller = await pipeline.account(100);
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => pipeline.close());

test('is tried again less and less often, and done once the object is restored', async () => {
  const clock = { now: performance.now() };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.now);
  const list = 'email\np1@list.example\np3@list.example\n';
  const id = await pipeline.enrich(caller, list, { operation: 'people.enrich', fields: 'id' });
  const [part] = await pipeline.sql<{ objectKey: string }[]>`
    select object_key from parts where batch_id = ${id}`;
  const { objectKey } = must(part, 'the part');
  const { store } = pipeline.context;
  const bytes = must(await store.head(objectKey), 'bytes of the part');
  const sound = await store.get(objectKey, { from: 0, to: bytes });
  await store.put(objectKey, [Buffer.from('damaged')]);
  await suppress(pipeline.sql, 'p3@list.example');
  /** Sweeps after so many seconds. Returns true when the result was tried, which failed. */
  const isTried = async (seconds: number) => {
    clock.now += seconds * 1000;
    await pipeline.sweep();
    return pipeline.runUntilIdle().then(
      () => false,
      () => true,
    );
  };
  const tries: boolean[] = [];
  for (const seconds of [0, 4, 4, 4, 4, 4, 10, 4]) tries.push(await isTried(seconds));
  expect(tries).toEqual([true, false, false, true, false, false, false, true]);
  await store.put(objectKey, [sound]);
  expect(await isTried(3600)).toBe(false);
  const parts = (await pipeline.objects()).filter((key) => key.includes(`${id}/parts/`));
  const texts = parts.map(async (key) => (await store.get(key, { from: 0, to: bytes })).toString());
  expect((await Promise.all(texts)).join('')).not.toContain('1003');
});

test('takes accounts in turn, however many results one of them has', async () => {
  const options = { operation: 'people.enrich', fields: 'id' };
  const greedy = await pipeline.account(100);
  const lists = Array.from({ length: 8 }, () => 'email\np1@list.example\n');
  for (const list of lists) await pipeline.enrich(greedy, list, options);
  const other = await pipeline.account(100);
  const id = await pipeline.enrich(other, 'email\np1@list.example\n', options);
  await suppress(pipeline.sql, 'p2@list.example');
  const numbers = { live: await lastSuppression(pipeline.sql), test: 0 };
  // One place for each account that has results by now.
  const first = () => listBatchesDueForRedaction(pipeline.sql, numbers, 3);
  for (let round = 0; round < 8; round++) expect(await first()).toContain(id);
});

test('looks for no more results while enough of them wait for a worker', async () => {
  const options = { operation: 'people.enrich', fields: 'id' };
  const id = await pipeline.enrich(caller, 'email\np1@list.example\n', options);
  await suppress(pipeline.sql, 'p3@list.example');
  const isWoken = () =>
    pipeline.queues.waiting.some(({ id: job }) => job.startsWith(`redact-results-${id}-`));
  vi.spyOn(pipeline.queues, 'countWaiting').mockImplementation(async (name) =>
    name === 'redact-results' ? 500 : 0,
  );
  await pipeline.sweep();
  expect(isWoken()).toBe(false);
  vi.restoreAllMocks();
  await pipeline.sweep();
  expect(isWoken()).toBe(true);
  await pipeline.runUntilIdle();
});

test('of a worker that died are redacted by another after ten minutes while the queue holds its job', async () => {
  const options = { operation: 'people.enrich', fields: 'id' };
  const id = await pipeline.enrich(caller, 'email\np1@list.example\n', options);
  await suppress(pipeline.sql, 'p2@list.example');
  await pipeline.sweep();
  const isOfList = ({ id: job }: { id: string }) => job.startsWith(`redact-results-${id}`);
  const job = must(pipeline.queues.waiting.find(isOfList), 'its job');
  const taken = new Signal();
  const sql = new Proxy(pipeline.context.sql, {
    apply() {
      taken.raise();
      return new Promise(() => {});
    },
  });
  void pipeline.queues.run({ ...pipeline.context, sql }, job);
  await taken.raised;
  await pipeline.sweep();
  expect(pipeline.queues.waiting.some(isOfList)).toBe(false);
  const later = Date.now() + 10 * 60_000;
  vi.spyOn(Date, 'now').mockReturnValue(later);
  await pipeline.sweep();
  expect(pipeline.queues.waiting.some(isOfList)).toBe(true);
  await pipeline.runUntilIdle();
  const numbers = { live: await lastSuppression(pipeline.sql), test: 0 };
  expect(await listBatchesDueForRedaction(pipeline.sql, numbers)).toEqual([]);
});

test('reaches a part that a worker matched before the opt-out, and commits while a download begins', async () => {
  const { context, queues } = pipeline;
  const list = 'email\np1@list.example\n';
  const id = await pipeline.upload(caller, list, { operation: 'people.enrich', fields: 'id' });
  await queues.runNext(context, 'split-batch');
  const written = new Signal();
  const thaw = new Signal();
  pipeline.faults.put = async () => {
    written.raise();
    await thaw.raised;
  };
  const slow = queues.runNext(context, 'run-chunk');
  await written.raised;
  await suppress(pipeline.sql, 'p1@list.example');
  // The first look for parts that are behind finds none: the part is committed right after it.
  const sql = new Proxy(context.sql, {
    apply(sql, self, given: [TemplateStringsArray, ...unknown[]]) {
      const found = Reflect.apply(sql, self, given);
      if (!given[0].join('').includes('suppression_number < ')) return found;
      return found.then(async (rows: unknown) => {
        thaw.raise();
        await slow;
        delete pipeline.faults.put;
        return rows;
      });
    },
  });
  const batch = must(await findBatch(pipeline.sql, id), 'batch');
  const [part] = await openRedactedParts({ ...context, sql }, batch);
  const { objectKey, bytes } = must(part, 'the part');
  const text = await context.store.get(objectKey, { from: 0, to: bytes });
  expect(text.toString()).toMatch(/^p1@list\.example,suppressed,/);
});
