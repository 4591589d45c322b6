import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Caller } from '../../../../tests/support/pipeline.ts';
import { inTransaction } from '../../../core/db/client.ts';
import {
  answered,
  fromNow,
  type Hooked,
  heldAttempts,
  openHooked,
  plus,
} from '../webhooks.test-suite.ts';
import { openDeliverer } from './deliver-due.ts';
import { claimDeliveries } from './deliveries.sql.ts';

let hooked: Hooked;
let caller: Caller;
beforeAll(async () => {
  hooked = await openHooked();
});
afterAll(() => hooked.close());
beforeEach(async () => {
  caller = await hooked.account(10);
});
afterEach(() => hooked.sql`delete from webhooks`.then(() => {}));

describe('a slow or dead receiver', () => {
  const toward = (name: string) => ({ url: `${hooked.receiver.url}${name}` });

  test('has four deliveries under way, its account eight, however many workers there are', async () => {
    for (const name of ['a', 'b', 'c']) await hooked.hook(caller, toward(name));
    await hooked.happen(caller, 10);
    const other = await hooked.account(10);
    await hooked.hook(other, toward('other'));
    await hooked.happen(other);
    const { post, begun, began, count, endNext } = heldAttempts();
    const now = fromNow(0);
    const workers = Array.from({ length: 3 }, () => openDeliverer(hooked.context, { now, post }));
    await Promise.all(workers.map(({ wake }) => wake()));
    await Promise.all(workers.map(({ wake }) => wake()));
    await began(9);
    expect(begun).toHaveLength(9);
    expect(count('other')).toBe(1);
    for (const name of ['a', 'b', 'c']) expect(count(name)).toBeLessThanOrEqual(4);
    // One that ends lets the next one go.
    for (let ended = 1; ended <= 31; ended++) {
      endNext(answered(200));
      // The one of the other account has no successor.
      await began(Math.min(31, 8 + ended));
      expect(begun.length).toBeLessThanOrEqual(9 + ended);
    }
    await Promise.all(workers.map(({ idle }) => idle()));
    expect([count('a'), count('b'), count('c'), count('other')]).toEqual([10, 10, 10, 1]);
  });

  test('has no more under way when two workers look at the same moment', async () => {
    await hooked.hook(caller);
    await hooked.happen(caller, 6);
    const { post, begun } = heldAttempts();
    const deliverer = openDeliverer(hooked.context, { now: fromNow(0), post });
    let looking = Promise.resolve();
    await inTransaction(hooked.sql, async (tx) => {
      const bounds = { perAccount: 8, perWebhook: 4 };
      expect(await claimDeliveries(tx, { now: fromNow(0), limit: 64, bounds })).toHaveLength(4);
      looking = deliverer.wake();
      const isWaiting = async () => {
        const waiting = await hooked.sql`
          select from pg_locks l join pg_database d on d.oid = l.database
          where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`;
        return waiting.length > 0;
      };
      await vi.waitUntil(isWaiting, { timeout: 20_000 });
    });
    await looking;
    expect(begun).toEqual([]);
  });

  test('that failed is tried one delivery at a time until it answers again', async () => {
    const hook = await hooked.hook(caller);
    await hooked.happen(caller, 5);
    const { post, begun, began, endNext } = heldAttempts();
    const now = fromNow(0);
    const deliverer = openDeliverer(hooked.context, { now, post, random: () => 0 });
    await deliverer.wake();
    await began(4);
    for (let n = 0; n < 4; n++) endNext(answered(500));
    await began(5);
    endNext(answered(500));
    await deliverer.idle();
    const later = openDeliverer(hooked.context, { now: plus(now, 5), post });
    await later.wake();
    await began(6);
    await later.wake();
    expect(begun).toHaveLength(6);
    endNext(answered(200));
    await began(10);
    for (let n = 0; n < 4; n++) endNext(answered(200));
    await later.idle();
    expect((await hooked.deliveries(hook)).map(({ state }) => state)).toEqual(
      Array.from({ length: 5 }, () => 'delivered'),
    );
  });
});
