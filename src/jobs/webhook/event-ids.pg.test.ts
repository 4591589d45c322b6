/** An event has the same id when it happens again, because the database was restored from an earlier moment. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { inTransaction } from '../../core/db/client.ts';
import { openWebhookFixture, type WebhookFixture } from './webhooks.test-suite.ts';

let fixture: WebhookFixture;
beforeAll(async () => {
  fixture = await openWebhookFixture();
  await importGraph(fixture.sql, { persons: crowd(2) });
});
afterAll(() => fixture.close());

test('a list that ends again, after the database went back in time, sends the event with the same id', async () => {
  const caller = await fixture.account(10);
  const hook = await fixture.hook(caller);
  const id = await fixture.upload(caller, 'email\np1@list.example\n', {
    operation: 'people.enrich',
    hold: 'true',
  });
  await fixture.runUntilIdle();
  const endAndGoBack = async () => {
    const back = new Error('back in time');
    let eventIds: unknown[] = [];
    const ended = inTransaction(fixture.sql, async (tx) => {
      await tx`update batches set state = 'failed', finished_at = now(), error = '{"code":"x"}' where id = ${id}`;
      eventIds = [
        ...(await tx`select event_id, payload ->> 'id' as told from webhook_deliveries
          where webhook_id = ${hook.id} and type = 'batch.failed'`),
      ];
      throw back;
    });
    await expect(ended).rejects.toBe(back);
    return eventIds;
  };
  const first = await endAndGoBack();
  expect(first).toEqual([{ eventId: expect.any(String), told: expect.any(String) }]);
  expect(await endAndGoBack()).toEqual(first);
});
