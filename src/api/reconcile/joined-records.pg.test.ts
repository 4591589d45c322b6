/** An extension by the ids that a record had before an import joined it with another one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { createKey } from '../../core/keys/keys.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { companies: [{ id: 10, name: 'Nordlicht Optik GmbH' }] });
  await pipeline.sql`insert into merged_ids (entity, id, into_id, import_id) values (1, 77, 10, 0)`;
});
afterAll(() => pipeline.close());

test('charges once for all ids of a record, and responds under each', async () => {
  const { accountId } = await pipeline.account(10);
  const limits = { requestsPerMinute: 1_000, requestsPerDay: 1_000 };
  const made = { accountId, mode: 'live', ...limits } as const;
  const { key } = await createKey(pipeline.sql, { ...made, scopes: ['reconcile'] });
  const extend = { ids: ['company-77', 'company-10'], properties: [{ id: 'name' }] };
  const response = await pipeline.call(null, `/v1/reconcile/${key}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ extend: JSON.stringify(extend) }),
  });
  expect(response.headers.get('x-credits-charged')).toBe('1');
  const name = [{ str: 'Nordlicht Optik GmbH' }];
  expect(await response.json()).toMatchObject({
    rows: { 'company-77': { name }, 'company-10': { name } },
  });
});
