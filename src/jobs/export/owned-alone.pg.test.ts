/** The counts of an export that charges for no one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { changeOwnedDays } from '../../core/credits/owned.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(2) });
});
afterAll(() => pipeline.close());

test('an export of an owned person does not tell whether it left out another one', async () => {
  const by = await pipeline.unmeteredAccount(100);
  await changeOwnedDays(pipeline.sql, by.accountId, 30);
  await pipeline.call(by, '/v1/people/enrich?email=p1@list.example');
  const owner = await pipeline.keyOf(by.accountId, 'live', ['account']);
  const hook = { url: 'https://93.184.216.34/', events: ['export.completed'] };
  const made = await pipeline.call(owner, '/v1/webhooks', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(hook),
  });
  expect(made.status).toBe(201);
  const emails = ['p2@list.example', 'no.one@list.example'];
  const ids: string[] = [];
  for (const email of emails) {
    const filter = `email=[p1@list.example|${email}]`;
    ids.push(await pipeline.makeExport(by, { name: 'x', filter, hold: true }));
  }
  await pipeline.runUntilIdle();
  // From now on the second person is not to be contacted: the export has the first one alone, for free.
  await pipeline.call(by, '/v1/do-not-contact', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ emails }),
  });
  const told: unknown[] = [];
  for (const id of ids) {
    await pipeline.call(by, `/v1/exports/${id}/start`, { method: 'POST' });
    await pipeline.runUntilIdle();
    const { state, rows, owned, credits, total_is } = await pipeline.exportOf(by, id);
    const report = await pipeline.call(by, `/v1/exports/${id}/report`);
    told.push({ state, rows, owned, credits, total_is, report: await report.json() });
  }
  expect(told[0]).toMatchObject({
    state: 'completed',
    rows: { total: 1, matched: 1, suppressed: 0 },
    owned: 1,
  });
  expect(told[1]).toEqual(told[0]);
  const events = await pipeline.sql<{ rows: unknown }[]>`
    select payload #> '{data,rows}' as rows from webhook_deliveries`;
  expect(events).toHaveLength(2);
  expect(events[0]?.rows).toMatchObject({ total: 1, matched: 1, suppressed: 0 });
  expect(events[1]).toEqual(events[0]);
});
