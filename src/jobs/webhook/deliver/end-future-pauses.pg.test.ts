/** Retries that were put off before the clock was set back. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withStatus } from '../../../../tests/support/webhook-receiver.ts';
import { endFuturePauses } from '../webhooks.sql.ts';
import { openWebhookFixture, type WebhookFixture } from '../webhooks.test-suite.ts';

let fixture: WebhookFixture;
beforeAll(async () => {
  fixture = await openWebhookFixture();
});
afterAll(() => fixture.close());

test('a delivery that was put off before the clock was set back is retried once that is noticed, others after their pause', async () => {
  const caller = await fixture.account(10);
  const hook = await fixture.hook(caller);
  await fixture.causeEvent(caller);
  fixture.receiver.usually = withStatus(500);
  await fixture.deliver();
  await endFuturePauses(fixture.sql);
  await fixture.deliver();
  expect(fixture.receiver.received).toHaveLength(1);
  await fixture.sql`
    update webhook_deliveries set due_at = due_at + interval '2 hours',
      attempted_at = attempted_at + interval '2 hours'`;
  for (let round = 0; round < 2; round++) {
    await endFuturePauses(fixture.sql);
    await fixture.deliver();
  }
  expect(fixture.receiver.received).toHaveLength(2);
  expect(await fixture.deliveries(hook)).toMatchObject([{ state: 'pending', attempts: 2 }]);
});
