/** Parts that a worker stored and no commit recorded: no one reads them, and an erasure leaves none of them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { must } from '../../core/lib/assert.ts';
import { erasePerson } from './erase-person.ts';

const options = { operation: 'people.enrich' };

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(2) });
  caller = await pipeline.account(10);
});
afterAll(() => pipeline.close());

const partsOf = async (id: string) =>
  (await pipeline.objects()).filter((key) => key.includes(`${id}/parts/`) && key.endsWith('.csv'));

/** A list whose worker froze when it had stored a part, before the commit. It dies before it deletes anything. */
async function frozenAfterPart(email: string) {
  const { context, queues, faults } = pipeline;
  const id = await pipeline.upload(caller, `email\n${email}\n`, options);
  await queues.runNext(context, 'split-batch');
  const frozen = new Signal();
  const thawed = new Signal();
  faults.put = async (key) => {
    if (!key.endsWith('.ids')) return;
    delete faults.put;
    frozen.raise();
    await thawed.raised;
  };
  const dying = { ...context.store, delete: () => Promise.reject(new Error('killed')) };
  const job = must(queues.waiting[0], 'a chunk');
  const working = queues.run({ ...context, store: dying }, job);
  await frozen.raised;
  while ((await partsOf(id)).length === 0);
  const thaw = async () => {
    thawed.raise();
    await working;
  };
  return { id, thaw };
}

test('of a worker that lost its lease are deleted, and those of one that works are kept', async () => {
  const lost = await frozenAfterPart('p1@list.example');
  await pipeline.passAnHour();
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  await lost.thaw();
  expect(await partsOf(lost.id)).toHaveLength(2);
  const working = await frozenAfterPart('p2@list.example');
  const erasure = await erasePerson(pipeline.context, { identifier: 'p1@list.example' });
  expect(erasure).toMatchObject({ erased: 1, left: [] });
  expect(await partsOf(lost.id)).toHaveLength(1);
  expect((await pipeline.results(caller, lost.id)).text).toContain('p1@list.example,suppressed,');
  await working.thaw();
  await pipeline.runUntilIdle();
  const { text, complete } = await pipeline.results(caller, working.id);
  expect([text.includes('p2@list.example,matched,'), complete]).toEqual([true, 'true']);
});
