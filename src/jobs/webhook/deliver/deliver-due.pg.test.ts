import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Caller } from '../../../../tests/support/pipeline.ts';
import { scrapeHere } from '../../../../tests/support/scrape.ts';
import { Signal } from '../../../../tests/support/signal.ts';
import { withStatus } from '../../../../tests/support/webhook-receiver.ts';
import { must } from '../../../core/lib/assert.ts';
import { Secret } from '../../../core/lib/secret.ts';
import {
  controlledAttempts,
  DAY,
  fromNow,
  HOUR,
  type Hook,
  MINUTE,
  openWebhookFixture,
  plus,
  responded,
  rotate,
  verify,
  type WebhookFixture,
} from '../webhooks.test-suite.ts';
import { changeWebhook, removeWebhook, replayWebhookDelivery, testWebhook } from '../webhooks.ts';
import { openDeliverer, startDelivering } from './deliver-due.ts';
import { postMessage } from './post-message.ts';

let fixture: WebhookFixture;
let caller: Caller;
beforeAll(async () => {
  fixture = await openWebhookFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  caller = await fixture.account(10);
});
afterEach(async () => {
  const { receiver, sql } = fixture;
  await sql`delete from webhooks`;
  receiver.received.length = 0;
  receiver.answers.length = 0;
  receiver.usually = withStatus(204);
  vi.restoreAllMocks();
});

/** Counts of attempts that were delivered, will be retried, and failed. */
async function attemptsCounted(): Promise<number[]> {
  const { sum } = await scrapeHere();
  return ['delivered', 'retried', 'failed'].map(
    (end) => sum('enrich_webhook_attempts_total', { end }) ?? 0,
  );
}

describe('a delivery', () => {
  test('is signed, and an independent verifier accepts the signature', async () => {
    const hook = await fixture.hook(caller);
    await fixture.causeEvent(caller);
    await fixture.deliver();
    const [message] = fixture.receiver.received;
    const [delivery] = await fixture.deliveries(hook);
    expect(verify(message, hook.secret)).toEqual(delivery?.payload);
    expect(message?.headers).toMatchObject({
      'webhook-id': delivery?.eventId,
      'content-type': 'application/json',
    });
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 1, responseStatus: 204 });
    await fixture.deliver({ now: fromNow(10 * DAY) });
    expect(fixture.receiver.received).toHaveLength(1);
  });

  test('that fails five times and is then accepted follows the retry schedule, under one id', async () => {
    const hook = await fixture.hook(caller);
    await fixture.causeEvent(caller);
    const { received, answers } = fixture.receiver;
    answers.push(...[500, 503, 302, 404, 500].map((status) => withStatus(status)));
    let moment = fromNow(0);
    for (const [failures, wait] of [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR].entries()) {
      await fixture.deliver({ now: moment });
      await fixture.deliver({ now: plus(moment, wait - 1) });
      expect(received).toHaveLength(failures + 1);
      verify(received.at(-1), hook.secret, moment);
      moment = plus(moment, wait);
    }
    expect(await fixture.show(hook)).toMatchObject({
      enabled: true,
      failingSince: expect.any(Date),
    });
    await fixture.deliver({ now: moment });
    expect(received).toHaveLength(6);
    verify(received.at(-1), hook.secret, moment);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(6);
    expect(await fixture.deliveries(hook)).toMatchObject([{ state: 'delivered', attempts: 6 }]);
    expect(await fixture.show(hook)).toMatchObject({ failingSince: null });
  });

  test('of an event from before the clock was set back is made at once, and retried after its pause', async () => {
    const hook = await fixture.hook(caller);
    await fixture.causeEvent(caller);
    await fixture.sql`
      update webhook_deliveries set due_at = due_at + interval '2 hours',
        created_at = created_at + interval '2 hours'`;
    fixture.receiver.usually = withStatus(500);
    await fixture.deliver();
    await fixture.deliver();
    expect(fixture.receiver.received).toHaveLength(1);
    expect(await fixture.deliveries(hook)).toMatchObject([{ state: 'pending', attempts: 1 }]);
    fixture.receiver.usually = withStatus(204);
    await fixture.deliver({ now: fromNow(0) });
    expect(await fixture.deliveries(hook)).toMatchObject([{ state: 'delivered', attempts: 2 }]);
  });

  test('fails for good after ten attempts, and a replay is sent under the same id', async () => {
    const hook = await fixture.hook(caller);
    await fixture.causeEvent(caller);
    fixture.receiver.usually = withStatus(500);
    for (let day = 0; day < 9; day++) {
      await fixture.deliver({ now: fromNow(day * 2 * DAY) });
      // Days of failure disable a webhook; its owner enables it again.
      await changeWebhook(fixture.context, hook, hook.id, { enabled: true });
    }
    expect(await fixture.deliveries(hook)).toMatchObject([{ state: 'pending', attempts: 9 }]);
    await fixture.deliver({ now: fromNow(20 * DAY) });
    const [failed] = await fixture.deliveries(hook);
    expect(failed).toMatchObject({ state: 'failed', attempts: 10, error: 'responded 500' });
    await fixture.deliver({ now: fromNow(40 * DAY) });
    expect(fixture.receiver.received).toHaveLength(10);
    await changeWebhook(fixture.context, hook, hook.id, { enabled: true });
    const deliveryId = must(failed, 'delivery').id;
    await replayWebhookDelivery(fixture.sql, hook, { id: hook.id, deliveryId });
    await fixture.deliver({ now: fromNow(40 * DAY) });
    expect(await fixture.deliveries(hook)).toMatchObject([{ state: 'pending', attempts: 11 }]);
    fixture.receiver.usually = withStatus(200);
    await fixture.deliver({ now: fromNow(40 * DAY + 5) });
    expect(await fixture.deliveries(hook)).toMatchObject([{ state: 'delivered', attempts: 12 }]);
    const ids = fixture.receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids)).toEqual(new Set([failed?.eventId]));
  });

  test.each([
    ['120', 120],
    ['1', 5],
    ['9999999', DAY],
    ['HTTP date', 90],
  ])('whose receiver sends Retry-After: %s waits that long', async (header, wait) => {
    const hook = await fixture.hook(caller);
    await fixture.causeEvent(caller);
    const now = fromNow(0);
    now.setMilliseconds(0);
    const retryAfter = header === 'HTTP date' ? plus(now, 90).toUTCString() : header;
    fixture.receiver.answers.push(withStatus(429, { 'Retry-After': retryAfter }));
    await fixture.deliver({ now });
    const [delivery] = await fixture.deliveries(hook);
    expect(delivery).toMatchObject({ state: 'pending', dueAt: plus(now, wait) });
    await fixture.deliver({ now: plus(now, wait - 1) });
    expect(fixture.receiver.received).toHaveLength(1);
    await fixture.deliver({ now: plus(now, wait) });
    expect(fixture.receiver.received).toHaveLength(2);
  });

  test('is counted by the outcome of each attempt', async () => {
    const hook = await fixture.hook(caller);
    const before = await attemptsCounted();
    await fixture.causeEvent(caller);
    fixture.receiver.answers.push(withStatus(500));
    await fixture.deliver();
    await fixture.deliver({ now: fromNow(HOUR) });
    await fixture.causeEvent(caller);
    fixture.receiver.usually = withStatus(500);
    await fixture.sql`update webhook_deliveries set round_attempts = 9 where state = 'pending'`;
    await fixture.deliver({ now: fromNow(HOUR) });
    expect(await fixture.deliveries(hook)).toContainEqual(
      expect.objectContaining({ state: 'failed' }),
    );
    const grown = (await attemptsCounted()).map((count, index) => count - (before[index] ?? 0));
    expect(grown).toEqual([1, 1, 1]);
  });

  test('of a test event is attempted once, and disables no webhook whose next one fails days later', async () => {
    const hook = await fixture.hook(caller, { events: ['batch.failed'] });
    await testWebhook(fixture.sql, hook, hook.id);
    fixture.receiver.usually = withStatus(500);
    await fixture.deliver();
    expect(await fixture.deliveries(hook)).toMatchObject([
      { type: 'webhook.test', state: 'failed', attempts: 1, error: 'responded 500' },
    ]);
    await fixture.deliver({ now: fromNow(5 * DAY) });
    expect(fixture.receiver.received).toHaveLength(1);
    expect(verify(fixture.receiver.received[0], hook.secret)).toMatchObject({
      type: 'webhook.test',
      live: true,
      data: { webhook_id: hook.id },
    });
    await testWebhook(fixture.sql, hook, hook.id);
    await fixture.deliver({ now: fromNow(6 * DAY) });
    expect(await fixture.show(hook)).toMatchObject({ enabled: true, failingSince: null });
  });
});

describe('a worker', () => {
  test('that is killed in the middle of a delivery is replaced by another, with the same id', async () => {
    const hook = await fixture.hook(caller);
    await fixture.causeEvent(caller);
    const now = fromNow(0);
    const sent = new Signal();
    const thaw = new Signal();
    const killed = openDeliverer(fixture.context, {
      now,
      post: async (...message) => {
        await postMessage(...message);
        sent.raise();
        await thaw.raised;
        return responded(500);
      },
    });
    await killed.wake();
    await sent.raised;
    // Its lease is valid: no other worker claims it.
    await fixture.deliver({ now: plus(now, 59) });
    expect(fixture.receiver.received).toHaveLength(1);
    await fixture.deliver({ now: plus(now, 61) });
    const ids = fixture.receiver.received.map(({ headers }) => headers['webhook-id']);
    const [delivery] = await fixture.deliveries(hook);
    expect(ids).toEqual([delivery?.eventId, delivery?.eventId]);
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 2 });
    // It was only frozen: its outcome no longer counts.
    thaw.raise();
    await killed.stop();
    expect(await fixture.deliveries(hook)).toEqual([delivery]);
    expect(await fixture.show(hook)).toMatchObject({ failingSince: null });
  });

  test('that stops finishes its deliveries in flight and claims no more', async () => {
    await fixture.hook(caller);
    await fixture.causeEvent(caller, 6);
    const { post, endNext, began, begun } = controlledAttempts();
    const deliverer = openDeliverer(fixture.context, { now: fromNow(0), post });
    await deliverer.wake();
    await began(4);
    const stopped = deliverer.stop();
    for (let n = 0; n < 4; n++) endNext(responded(200));
    await stopped;
    expect(begun).toHaveLength(4);
    await fixture.deliver();
    expect(fixture.receiver.received).toHaveLength(2);
  });

  test('is woken by the commit of an event, even after its connection was lost', async () => {
    const hook = await fixture.hook(caller);
    const listeners = () => fixture.sql<{ pid: number }[]>`
      select pid from pg_stat_activity
      where datname = current_database() and query ilike 'listen%'`;
    // The sweep finds nothing: timers do not fire in this test.
    vi.spyOn(globalThis, 'setInterval').mockReturnValue(undefined as never);
    const delivering = startDelivering(fixture.context);
    const listening = (old: number[]) => async () =>
      (await listeners()).some(({ pid }) => !old.includes(pid));
    await vi.waitUntil(listening([]), { timeout: 20_000 });
    await fixture.causeEvent(caller);
    await vi.waitUntil(() => fixture.receiver.received.length === 1, { timeout: 20_000 });
    const lost = await listeners();
    for (const { pid } of lost) await fixture.sql`select pg_terminate_backend(${pid})`;
    await vi.waitUntil(listening(lost.map(({ pid }) => pid)), { timeout: 20_000 });
    await fixture.causeEvent(caller);
    await vi.waitUntil(() => fixture.receiver.received.length === 2, { timeout: 20_000 });
    await delivering.stop();
    expect(await fixture.deliveries(hook)).toMatchObject([
      { state: 'delivered' },
      { state: 'delivered' },
    ]);
  });
});

describe('a webhook', () => {
  test('whose receiver responds 410 is disabled and sent nothing more; enabled again, it resumes', async () => {
    const hook = await fixture.hook(caller);
    await fixture.causeEvent(caller);
    fixture.receiver.answers.push(withStatus(410));
    await fixture.deliver();
    expect(await fixture.show(hook)).toMatchObject({ enabled: false, disabledReason: 'gone' });
    expect(await fixture.deliveries(hook)).toMatchObject([
      { state: 'pending', error: 'responded 410', responseStatus: 410 },
    ]);
    await fixture.causeEvent(caller);
    await fixture.deliver({ now: fromNow(3 * DAY) });
    expect(fixture.receiver.received).toHaveLength(1);
    expect(await fixture.deliveries(hook)).toHaveLength(1);
    await changeWebhook(fixture.context, hook, hook.id, { enabled: true });
    await fixture.deliver({ now: fromNow(3 * DAY) });
    expect(await fixture.deliveries(hook)).toMatchObject([{ state: 'delivered', attempts: 2 }]);
    expect(await fixture.show(hook)).toMatchObject({ enabled: true, disabledReason: null });
  });

  test('that only failed for five days is disabled; one success restarts the count', async () => {
    const hook = await fixture.hook(caller);
    const failAt = async (day: number) => {
      await fixture.causeEvent(caller);
      fixture.receiver.usually = withStatus(500);
      await fixture.deliver({ now: fromNow(day * DAY) });
    };
    await failAt(0);
    await failAt(4.9);
    fixture.receiver.usually = withStatus(200);
    await fixture.deliver({ now: fromNow(4.95 * DAY) });
    for (const day of [5.5, 6.4, 7.3, 8.2, 9.1, 10, 10.4]) await failAt(day);
    expect(await fixture.show(hook)).toMatchObject({ enabled: true });
    await failAt(10.6);
    expect(await fixture.show(hook)).toMatchObject({ enabled: false, disabledReason: 'failing' });
  });

  test('signs with both secrets while they overlap, and with the new one alone afterwards', async () => {
    const hook = await fixture.hook(caller);
    const rotation = { id: hook.id, overlapSeconds: 24 * HOUR };
    const { secret } = await rotate(fixture.context, hook, rotation);
    expect(secret).not.toBe(hook.secret);
    await fixture.causeEvent(caller);
    await fixture.deliver();
    const [during] = fixture.receiver.received;
    for (const known of [hook.secret, secret]) verify(during, known);
    const later = fromNow(25 * HOUR);
    await fixture.causeEvent(caller);
    await fixture.deliver({ now: later });
    const afterwards = fixture.receiver.received[1];
    verify(afterwards, secret, later);
    expect(() => verify(afterwards, hook.secret, later)).toThrow();
  });

  test('whose secret leaked can end it at once with an overlap of zero', async () => {
    const hook = await fixture.hook(caller);
    const { secret } = await rotate(fixture.context, hook, {
      id: hook.id,
      overlapSeconds: 0,
    });
    await fixture.causeEvent(caller);
    await fixture.deliver();
    verify(fixture.receiver.received[0], secret);
    expect(() => verify(fixture.receiver.received[0], hook.secret)).toThrow();
  });

  test('that is deleted during an attempt leaves nothing behind and causes no error', async () => {
    const hook = await fixture.hook(caller);
    await fixture.causeEvent(caller, 2);
    const { post, began, endNext } = controlledAttempts();
    const deliverer = openDeliverer(fixture.context, { now: fromNow(0), post });
    await deliverer.wake();
    await began(2);
    await removeWebhook(fixture.sql, hook, hook.id);
    endNext(responded(200));
    endNext(responded(410));
    await deliverer.stop();
    expect(await fixture.deliveries(hook)).toEqual([]);
  });

  test('that now resolves to an internal address is not called', async () => {
    const hook = await fixture.hook(caller);
    await fixture.causeEvent(caller);
    const rules = { allowedHosts: [], resolve: async () => [] };
    await fixture.deliver({ rules });
    expect(fixture.receiver.received).toEqual([]);
    expect(await fixture.deliveries(hook)).toMatchObject([
      { state: 'pending', responseStatus: null, error: 'the address must begin with https://' },
    ]);
  });

  test('whose secret is encrypted needs its encryption key', async () => {
    const key = (): Secret => new Secret(randomBytes(32).toString('base64'));
    const { context } = fixture;
    const withKey = (webhookEncryptionKey: Secret) => ({
      ...context,
      config: { ...context.config, webhookEncryptionKey },
    });
    const right = key();
    const hook: Hook = await fixture.hook(caller);
    const { secret } = await rotate(withKey(right), hook, {
      id: hook.id,
      overlapSeconds: HOUR,
    });
    const [stored] = await fixture.sql<{ secret: Buffer }[]>`
      select secret from webhooks where id = ${hook.id}`;
    expect(stored?.secret.includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false);
    await fixture.causeEvent(caller);
    await fixture.deliver();
    expect(fixture.receiver.received).toEqual([]);
    expect(await fixture.deliveries(hook)).toMatchObject([
      { state: 'pending', error: 'its signing secret cannot be read: rotate it' },
    ]);
    const deliverer = openDeliverer(withKey(right), { now: fromNow(0) });
    await deliverer.wake();
    await deliverer.idle();
    // The previous secret was stored without a key, and still signs.
    for (const known of [secret, hook.secret]) {
      verify(fixture.receiver.received[0], known, fromNow(0));
    }
  });
});
