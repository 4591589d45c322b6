/** The view of a list that its key's rows per minute hold back. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { createAccount } from '../../core/accounts/accounts.ts';
import { createKey } from '../../core/keys/keys.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, { persons: crowd(3) });
});
afterAll(() => pipeline.close());

/** A caller whose lists may run two rows a minute. */
async function slowCaller(): Promise<Caller> {
  const accountId = await createAccount(pipeline.sql, { name: 'Slow', credits: 100 });
  const input = { accountId, mode: 'live', rowsPerMinute: 2 } as const;
  const { id: keyId, key } = await createKey(pipeline.sql, input);
  return { accountId, keyId, key };
}

test('says so, and when it will end at that rate', async () => {
  const caller = await slowCaller();
  const list = `email\n${'p1@list.example\n'.repeat(6)}`;
  const id = await pipeline.enrich(caller, list, { operation: 'people.enrich', fields: 'id' });
  const waiting = await pipeline.batch(caller, id);
  const left = 6 - waiting.rows.processed;
  expect(left).toBeGreaterThan(0);
  expect(waiting).toMatchObject({ reason: 'rows_per_minute', eta_seconds: left * 30 });
  expect(['queued', 'running']).toContain(waiting.state);
  const paused = await pipeline.call(caller, `/v1/batches/${id}/pause`, { method: 'POST' });
  expect(await paused.json()).toMatchObject({ state: 'paused', reason: 'user', eta_seconds: null });
});

test('rows that the store did not return do not count', async () => {
  const caller = await slowCaller();
  const options = { operation: 'people.enrich', fields: 'id' };
  const id = await pipeline.upload(caller, `email\n${'p1@list.example\n'.repeat(2)}`, options);
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  pipeline.faults.get = () => Promise.reject(new Error('away'));
  await pipeline.runWhatWaits();
  delete pipeline.faults.get;
  await pipeline.runForAnHour();
  expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed', reason: null });
});

test('nor do those of a quote', async () => {
  const caller = await slowCaller();
  const held = { operation: 'people.enrich', hold: 'true' };
  const id = await pipeline.enrich(caller, `email\n${'p1@list.example\n'.repeat(4)}`, held);
  await pipeline.call(caller, `/v1/batches/${id}/quote`, { method: 'POST' });
  pipeline.faults.get = () => Promise.reject(new Error('away'));
  await pipeline.runWhatWaits();
  delete pipeline.faults.get;
  await pipeline.runForAnHour();
  expect(await pipeline.batch(caller, id)).toMatchObject({ quote: { state: 'done' } });
});
