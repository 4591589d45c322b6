/** The country by which a reconciliation query has its numbers read. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { createKey } from '../../core/keys/keys.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  const companies = [{ id: 13, name: 'Bergkristall Ltd', registryNumber: 'GB-01234567' }];
  await importGraph(pipeline.sql, { companies });
});
afterAll(() => pipeline.close());

test.each([
  ['UK', ['company-13']],
  ['n/a', ['company-13']],
  ['Ruritania', []],
  ['France', []],
])('a number with the country %s is that of %j', async (country, expected) => {
  const { accountId } = await pipeline.account(1);
  const { key } = await createKey(pipeline.sql, { accountId, mode: 'live', scopes: ['reconcile'] });
  const properties = [
    { pid: 'registry_number', v: '01234567' },
    { pid: 'country', v: country },
  ];
  const queries = JSON.stringify({ q0: { query: 'Nobody', type: 'company', properties } });
  const body = new URLSearchParams({ queries });
  const response = await pipeline.call(null, `/v1/reconcile/${key}`, { method: 'POST', body });
  const { q0 } = (await response.json()) as { q0: { result: { id: string }[] } };
  expect(q0.result.map(({ id }) => id)).toEqual(expected);
});
