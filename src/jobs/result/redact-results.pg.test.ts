/** The redaction of results of which an object is damaged. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { must } from '../../core/lib/assert.ts';
import { suppress } from '../../core/suppression/suppress.ts';

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
