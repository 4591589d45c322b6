import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Caller } from '../../../../tests/support/pipeline.ts';
import { scrapeHere } from '../../../../tests/support/scrape.ts';
import { Signal } from '../../../../tests/support/signal.ts';
import { withStatus } from '../../../../tests/support/webhook-receiver.ts';
import { must } from '../../../core/lib/assert.ts';
import { Secret } from '../../../core/lib/secret.ts';
import {
  answered,
  DAY,
  fromNow,
  HOUR,
  type Hook,
  type Hooked,
  heldAttempts,
  MINUTE,
  openHooked,
  plus,
  verify,
} from '../webhooks.test-suite.ts';
import {
  changeWebhook,
  removeWebhook,
  replayWebhookDelivery,
  rotateWebhookSecret,
  testWebhook,
} from '../webhooks.ts';
import { openDeliverer, startDelivering } from './deliver-due.ts';
import { postMessage } from './post-message.ts';

let hooked: Hooked;
let caller: Caller;
beforeAll(async () => {
  hooked = await openHooked();
});
afterAll(() => hooked.close());
beforeEach(async () => {
  caller = await hooked.account(10);
});
afterEach(async () => {
  const { receiver, sql } = hooked;
  await sql`delete from webhooks`;
  receiver.received.length = 0;
  receiver.answers.length = 0;
  receiver.usually = withStatus(204);
  vi.restoreAllMocks();
});

/** Attempts that were delivered, are made again, and failed. */
async function attemptsCounted(): Promise<number[]> {
  const { sum } = await scrapeHere();
  return ['delivered', 'retried', 'failed'].map(
    (end) => sum('enrich_webhook_attempts_total', { end }) ?? 0,
  );
}

describe('a delivery', () => {
  test('is signed, so that an independent verifier takes it', async () => {
    const hook = await hooked.hook(caller);
    await hooked.happen(caller);
    await hooked.deliver();
    const [message] = hooked.receiver.received;
    const [delivery] = await hooked.deliveries(hook);
    expect(verify(message, hook.secret)).toEqual(delivery?.payload);
    expect(message?.headers).toMatchObject({
      'webhook-id': delivery?.eventId,
      'content-type': 'application/json',
    });
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 1, responseStatus: 204 });
    await hooked.deliver({ now: fromNow(10 * DAY) });
    expect(hooked.receiver.received).toHaveLength(1);
  });

  test('that failed five times and is then accepted came by the schedule, under one id', async () => {
    const hook = await hooked.hook(caller);
    await hooked.happen(caller);
    const { received, answers } = hooked.receiver;
    answers.push(...[500, 503, 302, 404, 500].map((status) => withStatus(status)));
    let moment = fromNow(0);
    for (const [failures, wait] of [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR].entries()) {
      await hooked.deliver({ now: moment });
      await hooked.deliver({ now: plus(moment, wait - 1) });
      expect(received).toHaveLength(failures + 1);
      verify(received.at(-1), hook.secret, moment);
      moment = plus(moment, wait);
    }
    expect(await hooked.show(hook)).toMatchObject({
      enabled: true,
      failingSince: expect.any(Date),
    });
    await hooked.deliver({ now: moment });
    expect(received).toHaveLength(6);
    verify(received.at(-1), hook.secret, moment);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(6);
    expect(await hooked.deliveries(hook)).toMatchObject([{ state: 'delivered', attempts: 6 }]);
    expect(await hooked.show(hook)).toMatchObject({ failingSince: null });
  });

  test('has failed after ten attempts, and asked for is made again under the same id', async () => {
    const hook = await hooked.hook(caller);
    await hooked.happen(caller);
    hooked.receiver.usually = withStatus(500);
    for (let day = 0; day < 9; day++) {
      await hooked.deliver({ now: fromNow(day * 2 * DAY) });
      // Days of failure end a webhook; somebody enables it again.
      await changeWebhook(hooked.context, hook, hook.id, { enabled: true });
    }
    expect(await hooked.deliveries(hook)).toMatchObject([{ state: 'pending', attempts: 9 }]);
    await hooked.deliver({ now: fromNow(20 * DAY) });
    const [failed] = await hooked.deliveries(hook);
    expect(failed).toMatchObject({ state: 'failed', attempts: 10, error: 'answered 500' });
    await hooked.deliver({ now: fromNow(40 * DAY) });
    expect(hooked.receiver.received).toHaveLength(10);
    await changeWebhook(hooked.context, hook, hook.id, { enabled: true });
    const deliveryId = must(failed, 'delivery').id;
    await replayWebhookDelivery(hooked.sql, hook, { id: hook.id, deliveryId });
    await hooked.deliver({ now: fromNow(40 * DAY) });
    expect(await hooked.deliveries(hook)).toMatchObject([{ state: 'pending', attempts: 11 }]);
    hooked.receiver.usually = withStatus(200);
    await hooked.deliver({ now: fromNow(40 * DAY + 5) });
    expect(await hooked.deliveries(hook)).toMatchObject([{ state: 'delivered', attempts: 12 }]);
    const ids = hooked.receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids)).toEqual(new Set([failed?.eventId]));
  });

  test.each([
    ['120', 120],
    ['1', 5],
    ['9999999', DAY],
    ['HTTP date', 90],
  ])('whose receiver asks to come back (Retry-After: %s) waits so long', async (header, wait) => {
    const hook = await hooked.hook(caller);
    await hooked.happen(caller);
    const now = fromNow(0);
    now.setMilliseconds(0);
    const retryAfter = header === 'HTTP date' ? plus(now, 90).toUTCString() : header;
    hooked.receiver.answers.push(withStatus(429, { 'Retry-After': retryAfter }));
    await hooked.deliver({ now });
    const [delivery] = await hooked.deliveries(hook);
    expect(delivery).toMatchObject({ state: 'pending', dueAt: plus(now, wait) });
    await hooked.deliver({ now: plus(now, wait - 1) });
    expect(hooked.receiver.received).toHaveLength(1);
    await hooked.deliver({ now: plus(now, wait) });
    expect(hooked.receiver.received).toHaveLength(2);
  });

  test('is counted by what each attempt came to', async () => {
    const hook = await hooked.hook(caller);
    const before = await attemptsCounted();
    await hooked.happen(caller);
    hooked.receiver.answers.push(withStatus(500));
    await hooked.deliver();
    await hooked.deliver({ now: fromNow(HOUR) });
    await hooked.happen(caller);
    hooked.receiver.usually = withStatus(500);
    await hooked.sql`update webhook_deliveries set round_attempts = 9 where state = 'pending'`;
    await hooked.deliver({ now: fromNow(HOUR) });
    expect(await hooked.deliveries(hook)).toContainEqual(
      expect.objectContaining({ state: 'failed' }),
    );
    const grown = (await attemptsCounted()).map((count, index) => count - (before[index] ?? 0));
    expect(grown).toEqual([1, 1, 1]);
  });

  test('of a test event is made once', async () => {
    const hook = await hooked.hook(caller, { events: ['batch.failed'] });
    await testWebhook(hooked.sql, hook, hook.id);
    hooked.receiver.usually = withStatus(500);
    await hooked.deliver();
    expect(await hooked.deliveries(hook)).toMatchObject([
      { type: 'webhook.test', state: 'failed', attempts: 1, error: 'answered 500' },
    ]);
    await hooked.deliver({ now: fromNow(5 * DAY) });
    expect(hooked.receiver.received).toHaveLength(1);
    expect(verify(hooked.receiver.received[0], hook.secret)).toMatchObject({
      type: 'webhook.test',
      live: true,
      data: { webhook_id: hook.id },
    });
  });
});

describe('a worker', () => {
  test('that is killed in the middle of a delivery is followed by another, with the same id', async () => {
    const hook = await hooked.hook(caller);
    await hooked.happen(caller);
    const now = fromNow(0);
    const sent = new Signal();
    const thaw = new Signal();
    const killed = openDeliverer(hooked.context, {
      now,
      post: async (...message) => {
        await postMessage(...message);
        sent.raise();
        await thaw.raised;
        return answered(500);
      },
    });
    await killed.wake();
    await sent.raised;
    // Its lease is in force: nobody else takes it.
    await hooked.deliver({ now: plus(now, 59) });
    expect(hooked.receiver.received).toHaveLength(1);
    await hooked.deliver({ now: plus(now, 61) });
    const ids = hooked.receiver.received.map(({ headers }) => headers['webhook-id']);
    const [delivery] = await hooked.deliveries(hook);
    expect(ids).toEqual([delivery?.eventId, delivery?.eventId]);
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 2 });
    // It was frozen only: what it has to say does not count any more.
    thaw.raise();
    await killed.stop();
    expect(await hooked.deliveries(hook)).toEqual([delivery]);
    expect(await hooked.show(hook)).toMatchObject({ failingSince: null });
  });

  test('that stops ends what it has in hand and takes no more', async () => {
    await hooked.hook(caller);
    await hooked.happen(caller, 6);
    const { post, endNext, began, begun } = heldAttempts();
    const deliverer = openDeliverer(hooked.context, { now: fromNow(0), post });
    await deliverer.wake();
    await began(4);
    const stopped = deliverer.stop();
    for (let n = 0; n < 4; n++) endNext(answered(200));
    await stopped;
    expect(begun).toHaveLength(4);
    await hooked.deliver();
    expect(hooked.receiver.received).toHaveLength(2);
  });

  test('is woken by the commit of an event, also after its connection was lost', async () => {
    const hook = await hooked.hook(caller);
    const listeners = () => hooked.sql<{ pid: number }[]>`
      select pid from pg_stat_activity
      where datname = current_database() and query ilike 'listen%'`;
    // Nothing is found by the sweep: the clock of this test stands still.
    vi.spyOn(globalThis, 'setInterval').mockReturnValue(undefined as never);
    const delivering = startDelivering(hooked.context);
    const listening = (old: number[]) => async () =>
      (await listeners()).some(({ pid }) => !old.includes(pid));
    await vi.waitUntil(listening([]), { timeout: 20_000 });
    await hooked.happen(caller);
    await vi.waitUntil(() => hooked.receiver.received.length === 1, { timeout: 20_000 });
    const lost = await listeners();
    for (const { pid } of lost) await hooked.sql`select pg_terminate_backend(${pid})`;
    await vi.waitUntil(listening(lost.map(({ pid }) => pid)), { timeout: 20_000 });
    await hooked.happen(caller);
    await vi.waitUntil(() => hooked.receiver.received.length === 2, { timeout: 20_000 });
    await delivering.stop();
    expect(await hooked.deliveries(hook)).toMatchObject([
      { state: 'delivered' },
      { state: 'delivered' },
    ]);
  });
});

describe('a webhook', () => {
  test('whose receiver answers 410 is disabled and told nothing any more; enabled, it goes on', async () => {
    const hook = await hooked.hook(caller);
    await hooked.happen(caller);
    hooked.receiver.answers.push(withStatus(410));
    await hooked.deliver();
    expect(await hooked.show(hook)).toMatchObject({ enabled: false, disabledReason: 'gone' });
    expect(await hooked.deliveries(hook)).toMatchObject([
      { state: 'pending', error: 'answered 410', responseStatus: 410 },
    ]);
    await hooked.happen(caller);
    await hooked.deliver({ now: fromNow(3 * DAY) });
    expect(hooked.receiver.received).toHaveLength(1);
    expect(await hooked.deliveries(hook)).toHaveLength(1);
    await changeWebhook(hooked.context, hook, hook.id, { enabled: true });
    await hooked.deliver({ now: fromNow(3 * DAY) });
    expect(await hooked.deliveries(hook)).toMatchObject([{ state: 'delivered', attempts: 2 }]);
    expect(await hooked.show(hook)).toMatchObject({ enabled: true, disabledReason: null });
  });

  test('that did nothing but fail for five days is disabled; one success begins them anew', async () => {
    const hook = await hooked.hook(caller);
    const failAt = async (day: number) => {
      await hooked.happen(caller);
      hooked.receiver.usually = withStatus(500);
      await hooked.deliver({ now: fromNow(day * DAY) });
    };
    await failAt(0);
    await failAt(4.9);
    hooked.receiver.usually = withStatus(200);
    await hooked.deliver({ now: fromNow(4.95 * DAY) });
    await failAt(5.5);
    await failAt(10.4);
    expect(await hooked.show(hook)).toMatchObject({ enabled: true });
    await failAt(10.6);
    expect(await hooked.show(hook)).toMatchObject({ enabled: false, disabledReason: 'failing' });
  });

  test('signs with both secrets while they overlap, and with the new one alone afterwards', async () => {
    const hook = await hooked.hook(caller);
    const rotation = { id: hook.id, overlapSeconds: 24 * HOUR };
    const { secret } = await rotateWebhookSecret(hooked.context, hook, rotation);
    expect(secret).not.toBe(hook.secret);
    await hooked.happen(caller);
    await hooked.deliver();
    const [during] = hooked.receiver.received;
    for (const known of [hook.secret, secret]) verify(during, known);
    const later = fromNow(25 * HOUR);
    await hooked.happen(caller);
    await hooked.deliver({ now: later });
    const afterwards = hooked.receiver.received[1];
    verify(afterwards, secret, later);
    expect(() => verify(afterwards, hook.secret, later)).toThrow();
  });

  test('whose secret leaked ends it at once with an overlap of nothing', async () => {
    const hook = await hooked.hook(caller);
    const { secret } = await rotateWebhookSecret(hooked.context, hook, {
      id: hook.id,
      overlapSeconds: 0,
    });
    await hooked.happen(caller);
    await hooked.deliver();
    verify(hooked.receiver.received[0], secret);
    expect(() => verify(hooked.receiver.received[0], hook.secret)).toThrow();
  });

  test('that is deleted during an attempt leaves nothing, and harms nobody', async () => {
    const hook = await hooked.hook(caller);
    await hooked.happen(caller, 2);
    const { post, began, endNext } = heldAttempts();
    const deliverer = openDeliverer(hooked.context, { now: fromNow(0), post });
    await deliverer.wake();
    await began(2);
    await removeWebhook(hooked.sql, hook, hook.id);
    endNext(answered(200));
    endNext(answered(410));
    await deliverer.stop();
    expect(await hooked.deliveries(hook)).toEqual([]);
  });

  test('that points inside by now is not called', async () => {
    const hook = await hooked.hook(caller);
    await hooked.happen(caller);
    const rules = { allowedHosts: [], resolve: async () => [] };
    await hooked.deliver({ rules });
    expect(hooked.receiver.received).toEqual([]);
    expect(await hooked.deliveries(hook)).toMatchObject([
      { state: 'pending', responseStatus: null, error: 'the address must begin with https://' },
    ]);
  });

  test('whose secret is encrypted needs the key for it', async () => {
    const key = (): Secret => new Secret(randomBytes(32).toString('base64'));
    const { context } = hooked;
    const withKey = (webhookEncryptionKey: Secret) => ({
      ...context,
      config: { ...context.config, webhookEncryptionKey },
    });
    const right = key();
    const hook: Hook = await hooked.hook(caller);
    const { secret } = await rotateWebhookSecret(withKey(right), hook, {
      id: hook.id,
      overlapSeconds: HOUR,
    });
    const [stored] = await hooked.sql<{ secret: Buffer }[]>`
      select secret from webhooks where id = ${hook.id}`;
    expect(stored?.secret.includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false);
    await hooked.happen(caller);
    await hooked.deliver();
    expect(hooked.receiver.received).toEqual([]);
    expect(await hooked.deliveries(hook)).toMatchObject([
      { state: 'pending', error: 'its signing secret cannot be read: rotate it' },
    ]);
    const deliverer = openDeliverer(withKey(right), { now: fromNow(0) });
    await deliverer.wake();
    await deliverer.idle();
    // The one before it was stored without a key, and signs along.
    for (const known of [secret, hook.secret]) {
      verify(hooked.receiver.received[0], known, fromNow(0));
    }
  });
});
