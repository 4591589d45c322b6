/** Deliveries of webhooks that housekeeping deletes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { makeWebhook } from '../webhook/webhooks.test-suite.ts';
import { testWebhook } from '../webhook/webhooks.ts';
import { runHousekeeping } from './run-housekeeping.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(0);
});
afterAll(() => pipeline.close());

test('the outcome of an event is kept for 30 days', async () => {
  const { sql } = pipeline;
  const owner = { accountId: caller.accountId, live: true };
  const { webhook } = await makeWebhook(pipeline.context, owner, {
    url: 'https://8.8.8.8/',
    events: ['batch.completed'],
    creditsLowThreshold: 1,
    enabled: true,
  });
  const { id: old } = await testWebhook(sql, owner, webhook.id);
  const { id: young } = await testWebhook(sql, owner, webhook.id);
  const happened = (id: string, days: number) => sql`
    update webhook_deliveries
    set created_at = now() - make_interval(days => ${days}, secs => 60) where id = ${id}`;
  await happened(old, 30);
  await happened(young, 29);
  await runHousekeeping(pipeline.context);
  const left = await sql`select id from webhook_deliveries`;
  expect(left).toEqual([{ id: young }]);
});

test('keeps the latest deliveries of each webhook', async () => {
  const { sql } = pipeline;
  const owner = { accountId: caller.accountId, live: true };
  const make = async (deliveries: number) => {
    const { webhook } = await makeWebhook(pipeline.context, owner, {
      url: 'https://8.8.8.8/',
      events: ['batch.completed'],
      creditsLowThreshold: 1,
      enabled: true,
    });
    await sql`
      insert into webhook_deliveries (webhook_id, event_id, type, payload, created_at)
      select ${webhook.id}, gen_random_uuid(), 'batch.completed', '{}', now() - n * interval '1 second'
      from generate_series(1, ${deliveries}::int) n`;
    return webhook.id;
  };
  const [busy, quiet] = [await make(100_003), await make(2)];
  const latest = sql`
    select id from webhook_deliveries where webhook_id = ${busy} order by created_at desc limit 100000`;
  const kept = new Set((await latest).map(({ id }) => id));
  await runHousekeeping(pipeline.context);
  const left = await sql<{ id: string; webhookId: string }[]>`
    select id, webhook_id from webhook_deliveries where webhook_id in (${busy}, ${quiet})`;
  const ofBusy = left.filter(({ webhookId }) => webhookId === busy);
  expect(left.length - ofBusy.length).toBe(2);
  expect(ofBusy).toHaveLength(100_000);
  expect(ofBusy.every(({ id }) => kept.has(id))).toBe(true);
});
