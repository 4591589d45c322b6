import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Caller } from '../../../../tests/support/pipeline.ts';
import { inTransaction } from '../../../core/db/client.ts';
import {
  controlledAttempts,
  fromNow,
  openWebhookFixture,
  plus,
  responded,
  type WebhookFixture,
} from '../webhooks.test-suite.ts';
import { openDeliverer } from './deliver-due.ts';
import { claimDeliveries } from './deliveries.sql.ts';

let fixture: WebhookFixture;
let caller: Caller;
beforeAll(async () => {
  fixture = await openWebhookFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  caller = await fixture.account(10);
});
afterEach(() => fixture.sql`delete from webhooks`.then(() => {}));

describe('a slow or dead receiver', () => {
  const toward = (name: string) => ({ url: `${fixture.receiver.url}${name}` });

  test('has at most four deliveries in flight, its account eight, across all workers', async () => {
    for (const name of ['a', 'b', 'c']) await fixture.hook(caller, toward(name));
    await fixture.causeEvent(caller, 10);
    const other = await fixture.account(10);
    await fixture.hook(other, toward('other'));
    await fixture.causeEvent(other);
    const { post, begun, began, count, endNext } = controlledAttempts();
    const now = fromNow(0);
    const workers = Array.from({ length: 3 }, () => openDeliverer(fixture.context, { now, post }));
    await Promise.all(workers.map(({ wake }) => wake()));
    await Promise.all(workers.map(({ wake }) => wake()));
    await began(9);
    expect(begun).toHaveLength(9);
    expect(count('other')).toBe(1);
    for (const name of ['a', 'b', 'c']) expect(count(name)).toBeLessThanOrEqual(4);
    // Each one that ends makes room for the next.
    for (let ended = 1; ended <= 31; ended++) {
      endNext(responded(200));
      // The other account has only one delivery.
      await began(Math.min(31, 8 + ended));
      expect(begun.length).toBeLessThanOrEqual(9 + ended);
    }
    await Promise.all(workers.map(({ idle }) => idle()));
    expect([count('a'), count('b'), count('c'), count('other')]).toEqual([10, 10, 10, 1]);
  });

  test('fills a worker with those of eight accounts for no longer than two seconds', async () => {
    const slow = await Promise.all(Array.from({ length: 8 }, () => fixture.account(10)));
    for (const account of slow) {
      for (const name of ['slow', 'slow']) await fixture.hook(account, toward(name));
      await fixture.causeEvent(account, 4);
    }
    const { post, begun, began, count, endNext } = controlledAttempts();
    const deliverer = openDeliverer(fixture.context, { now: fromNow(0), post });
    await deliverer.wake();
    await began(64);
    await fixture.hook(caller, toward('other'));
    await fixture.causeEvent(caller);
    await deliverer.wake();
    expect(begun).toHaveLength(64);
    const { now } = performance;
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 2_000);
    await deliverer.wake();
    await began(65);
    expect(count('other')).toBe(1);
    vi.restoreAllMocks();
    for (let n = 0; n < 65; n++) endNext(responded(200));
    await deliverer.idle();
  });

  test('is called again after the clock was set back, when its worker is dead', async () => {
    await fixture.hook(caller);
    await fixture.causeEvent(caller, 4);
    const claim = {
      now: fromNow(0),
      limit: 64,
      bounds: { perAccount: 8, perWebhook: 4 },
      attempted: [],
    };
    const claimNow = () => inTransaction(fixture.sql, (tx) => claimDeliveries(tx, claim));
    expect(await claimNow()).toHaveLength(4);
    expect(await claimNow()).toHaveLength(0);
    await fixture.sql`update webhook_deliveries set lease_until = lease_until + interval '2 hours'`;
    expect(await claimNow()).toHaveLength(4);
  });

  test('has no more in flight when two workers claim at the same moment', async () => {
    await fixture.hook(caller);
    await fixture.causeEvent(caller, 6);
    const { post, begun } = controlledAttempts();
    const deliverer = openDeliverer(fixture.context, { now: fromNow(0), post });
    let looking = Promise.resolve();
    await inTransaction(fixture.sql, async (tx) => {
      const bounds = { perAccount: 8, perWebhook: 4 };
      const claim = { now: fromNow(0), limit: 64, bounds, attempted: [] };
      expect(await claimDeliveries(tx, claim)).toHaveLength(4);
      looking = deliverer.wake();
      const isWaiting = async () => {
        const waiting = await fixture.sql`
          select from pg_locks l join pg_database d on d.oid = l.database
          where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`;
        return waiting.length > 0;
      };
      await vi.waitUntil(isWaiting, { timeout: 20_000 });
    });
    await looking;
    expect(begun).toEqual([]);
  });

  test('has no more in flight when its webhooks are deleted and made anew', async () => {
    const { post, begun, began, endNext } = controlledAttempts();
    const deliverer = openDeliverer(fixture.context, { now: fromNow(0), post });
    for (const expected of [4, 8, 8, 8]) {
      const hook = await fixture.hook(caller, toward('slow'));
      await fixture.causeEvent(caller, 4);
      await deliverer.wake();
      await began(expected);
      expect(begun).toHaveLength(expected);
      await fixture.sql`delete from webhooks where id = ${hook.id}`;
    }
    for (let n = 0; n < 8; n++) endNext(responded(200));
    await deliverer.idle();
  });

  test('that failed is tried one delivery at a time until it responds again', async () => {
    const hook = await fixture.hook(caller);
    await fixture.causeEvent(caller, 5);
    const { post, begun, began, endNext } = controlledAttempts();
    const now = fromNow(0);
    const deliverer = openDeliverer(fixture.context, { now, post, random: () => 0 });
    await deliverer.wake();
    await began(4);
    for (let n = 0; n < 4; n++) endNext(responded(500));
    await began(5);
    endNext(responded(500));
    await deliverer.idle();
    const later = openDeliverer(fixture.context, { now: plus(now, 5), post });
    await later.wake();
    await began(6);
    await later.wake();
    expect(begun).toHaveLength(6);
    endNext(responded(200));
    await began(10);
    for (let n = 0; n < 4; n++) endNext(responded(200));
    await later.idle();
    expect((await fixture.deliveries(hook)).map(({ state }) => state)).toEqual(
      Array.from({ length: 5 }, () => 'delivered'),
    );
  });
});
