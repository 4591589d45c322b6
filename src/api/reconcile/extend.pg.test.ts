/** The records that an extension charges for. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { createKey } from '../../core/keys/keys.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  const company = { id: 10, name: 'Nordlicht Optik GmbH', domain: 'nordlicht.example' };
  const persons = [{ id: 1, name: 'Robert', surname: 'Zwirner' }];
  await importGraph(pipeline.sql, { companies: [company], persons });
  await pipeline.sql`insert into merged_ids (entity, id, into_id, import_id) values (1, 77, 10, 0)`;
});
afterAll(() => pipeline.close());

/** Extends the ids by a property with a new account. */
async function extend(ids: string[], property: string): Promise<Response> {
  const { accountId } = await pipeline.account(10);
  const limits = { requestsPerMinute: 1_000, requestsPerDay: 1_000 };
  const made = { accountId, mode: 'live', ...limits } as const;
  const { key } = await createKey(pipeline.sql, { ...made, scopes: ['reconcile'] });
  return pipeline.call(null, `/v1/reconcile/${key}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ extend: JSON.stringify({ ids, properties: [{ id: property }] }) }),
  });
}

test('charges once for all ids of a record, and responds under each', async () => {
  const response = await extend(['company-77', 'company-10'], 'name');
  expect(response.headers.get('x-credits-charged')).toBe('1');
  const name = [{ str: 'Nordlicht Optik GmbH' }];
  expect(await response.json()).toMatchObject({
    rows: { 'company-77': { name }, 'company-10': { name } },
  });
});

test('charges for no record of a type that has none of the properties', async () => {
  const response = await extend(['person-1', 'company-10'], 'headCount');
  expect(response.headers.get('x-credits-charged')).toBe('1');
  expect(await response.json()).toMatchObject({ rows: { 'person-1': { headCount: [] } } });
});
