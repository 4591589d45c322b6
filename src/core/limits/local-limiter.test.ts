import { expect, test } from 'vitest';
import type { LeaseDays } from './day-leases.ts';
import { openLocalLimiter } from './local-limiter.ts';

const SECOND = 1_000_000;
const noon = Date.UTC(2024, 4, 6, 12) * 1000;

/** A limiter of one of four processes, on a clock that only the test advances. */
function openStopped(perDay = 1000) {
  let now = noon;
  let granted = 0;
  const leaseDays: LeaseDays = async (dry) => {
    const leases = new Map();
    for (const { key, day } of dry) {
      const lease = Math.min(10, perDay - granted);
      granted += lease;
      leases.set(key.requestsOf, { day, granted: lease, total: granted });
    }
    return leases;
  };
  const key = { requestsOf: 'a', requestsPerMinute: 60, requestsPerDay: perDay };
  const limiter = openLocalLimiter(leaseDays, { processes: 4, clock: () => now });
  return {
    limiter,
    pass: (seconds: number) => {
      now += seconds * SECOND;
    },
    admitted: async (calls: number) => {
      const limits = await limiter.takeRequests(Array.from({ length: calls }, () => key));
      return limits.filter(({ admitted }) => admitted).length;
    },
    call: async () => (await limiter.takeRequests([key]))[0],
  };
}

test('a process on its own admits its share of a limit, and its share of each minute’s gain', async () => {
  const { admitted, pass } = openStopped();
  expect(await admitted(40)).toBe(15);
  pass(12);
  expect(await admitted(40)).toBe(3);
});

test('a bucket continues from its last state in the store, on the store’s clock', async () => {
  const { limiter, admitted, pass } = openStopped();
  // A store whose clock is an hour ahead reported: full again in a minute.
  const storeNow = noon + 3600 * SECOND;
  limiter.learn('a', 'requests', { now: storeNow, fullAt: storeNow + 60 * SECOND });
  expect(await admitted(10)).toBe(0);
  pass(8);
  expect(await admitted(10)).toBe(2);
  expect(limiter.known('a', 'requests')).toBe(storeNow + 68 * SECOND);
});

test('a day ends at its cap, whatever the process leases', async () => {
  const { admitted, call, pass } = openStopped(23);
  for (let minute = 0; minute < 3; minute++) {
    await admitted(15);
    pass(60);
  }
  const refused = await call();
  expect(refused).toMatchObject({ refusedBy: 'day', dayRemaining: 0, minuteRemaining: 15 });
  expect(refused?.retrySeconds).toBe(12 * 3600 - 180);
});

test('a bucket of rows is divided among the processes too, and may go into debt', () => {
  const { limiter, pass } = openStopped();
  const bucket = { owner: 'b', name: 'rows', perMinute: 400, cost: 250 };
  expect(limiter.takeTokens(bucket).admitted).toBe(true);
  expect(limiter.takeTokens(bucket)).toMatchObject({ admitted: false, retrySeconds: 150 });
  pass(150);
  expect(limiter.takeTokens(bucket).admitted).toBe(true);
});
