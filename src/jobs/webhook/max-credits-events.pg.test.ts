/** A webhook is told each time that a list or an export reaches its `max_credits`. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Caller } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { type Hook, openWebhookFixture, type WebhookFixture } from './webhooks.test-suite.ts';

let fixture: WebhookFixture;
let caller: Caller;
let hook: Hook;
beforeAll(async () => {
  fixture = await openWebhookFixture();
  await importGraph(fixture.sql, { persons: crowd(3) });
});
afterAll(() => fixture.close());
beforeEach(async () => {
  caller = await fixture.account(1000);
  hook = await fixture.hook(caller);
});

const events = async () =>
  (await fixture.deliveries(hook)).map(({ type, payload }) => ({ type, data: payload.data }));

const listOf = (...names: string[]) =>
  `email\n${names.map((name) => `${name}@list.example`).join('\n')}\n`;
const options = { operation: 'people.enrich', fields: 'id', max_credits: '1' };

test('a list sends an event each time it pauses there, and one when it ends', async () => {
  const capped = await fixture.enrich(caller, listOf('p1', 'p2', 'p3'), options);
  for (const change of [{ max_credits: 2 }, { max_credits: null }]) {
    await fixture.call(caller, `/v1/batches/${capped}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(change),
    });
    await fixture.runUntilIdle();
  }
  const ended = await fixture.enrich(caller, listOf('p1', 'p2'), options);
  await fixture.call(caller, `/v1/batches/${ended}/cancel`, { method: 'POST' });
  await fixture.runUntilIdle();

  const paused = (id: string, charged: number) => ({
    type: 'batch.paused',
    data: {
      id,
      reason: 'max_credits',
      rows: { matched: charged },
      credits: { charged, max: charged },
    },
  });
  expect(await events()).toMatchObject([
    paused(capped, 1),
    paused(capped, 2),
    { type: 'batch.completed', data: { id: capped, reason: null, credits: { charged: 3 } } },
    paused(ended, 1),
    {
      type: 'batch.cancelled',
      data: { id: ended, reason: null, rows: { matched: 1, not_processed: 1 } },
    },
  ]);
});

test('an export ends there as completed, with the people that it left out', async () => {
  const id = await fixture.makeExport(caller, { filter: 'id=1001-1003', max_credits: 2 });
  await fixture.runUntilIdle();
  expect(await events()).toMatchObject([
    {
      type: 'export.completed',
      data: {
        id,
        reason: null,
        rows: { total: 3, matched: 2, not_processed: 1 },
        credits: { charged: 2, max: 2 },
      },
    },
  ]);
});
