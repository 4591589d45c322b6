/** Retries beside jumps of the clock. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withStatus } from '../../../../tests/support/webhook-receiver.ts';
import { endFuturePauses } from '../webhooks.sql.ts';
import { DAY, fromNow, openWebhookFixture, type WebhookFixture } from '../webhooks.test-suite.ts';

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

test.each([[6], [4.9]])(
  'a failing webhook is not disabled by a jump of the clock of %d days: its five days begin again',
  async (days) => {
    const caller = await fixture.account(10);
    const hook = await fixture.hook(caller);
    await fixture.causeEvent(caller);
    fixture.receiver.usually = withStatus(500);
    await fixture.deliver({ now: fromNow(0) });
    const jumped = fromNow(days * DAY);
    await fixture.deliver({ now: jumped });
    const failing = { enabled: true, failingSince: jumped };
    expect(await fixture.show(hook)).toMatchObject(failing);
    for (const later of [0.9, 1.8, 2.7, 3.6, 4.5]) {
      await fixture.deliver({ now: fromNow((days + later) * DAY) });
      expect(await fixture.show(hook)).toMatchObject(failing);
    }
    await fixture.deliver({ now: fromNow((days + 5.4) * DAY) });
    expect(await fixture.show(hook)).toMatchObject({ enabled: false, disabledReason: 'failing' });
  },
);
