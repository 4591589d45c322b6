/** Calls by name are shared between accounts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { type EnrichCall, openEnrichCalls } from './enrich-calls.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
});
afterAll(() => pipeline.close());

const callOf = (accountId: string, reference: number): EnrichCall => ({
  ...{ accountId, keyId: 'key', sessionSha256: null, isPlain: true, live: false },
  operation: 'people.enrich',
  row: { identifiers: [], invalid: null, likely: { name: 'Nora Nobody' } },
  ...{ minProbability: 0.9, required: null, reference: `call:${reference}` },
});

test('one account’s thousand calls do not make another account wait for all of them', async () => {
  const calls = openEnrichCalls(pipeline.context);
  const order: string[] = [];
  const call = async (accountId: string, reference: number) => {
    await calls.run(callOf(accountId, reference), new AbortController().signal);
    order.push(accountId);
  };
  const flood = Array.from({ length: 1000 }, (_, reference) => call('many', reference));
  await Promise.all([...flood, call('one', 1000)]);
  expect(order.indexOf('one')).toBeLessThan(100);
});
