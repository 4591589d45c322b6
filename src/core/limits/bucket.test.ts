import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BucketState,
  dayOf,
  describeRequest,
  describeRequests,
  describeTokens,
  oweToBucket,
  takeFromBucket,
} from './bucket.ts';

const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;
const DAY = 86_400 * SECOND;
/** Noon of some day: no test is about midnight unless it says so. */
const now = 20_000 * DAY + DAY / 2;
const full: BucketState = { now, fullAt: now };

/** The state after taking so many tokens one by one at the same moment. */
function drained(perMinute: number, tokens: number): BucketState {
  let state = full;
  for (let token = 0; token < tokens; token++) {
    const taken = takeFromBucket(state, perMinute, 1);
    expect(taken.admitted, `token ${token}`).toBe(true);
    state = taken;
  }
  return state;
}

const later = (state: BucketState, micros: number): BucketState => ({
  now: state.now + micros,
  fullAt: Math.max(state.fullAt, state.now + micros),
});

describe('a bucket', () => {
  test.each([1, 7, 60, 600])('of %i a minute holds exactly that many', (perMinute) => {
    const empty = drained(perMinute, perMinute);
    const refused = takeFromBucket(empty, perMinute, 1);
    expect(refused.admitted).toBe(false);
    expect(refused.fullAt).toBe(empty.fullAt);
  });

  test('owes what it does not have, a minute of it at most', () => {
    expect(oweToBucket(full, 60, 30)).toEqual({ now, fullAt: now + 30 * SECOND });
    expect(oweToBucket(drained(60, 60), 60, 30)).toEqual({ now, fullAt: now + 90 * SECOND });
    expect(oweToBucket(drained(60, 60), 60, 120)).toEqual({ now, fullAt: now + 2 * MINUTE });
  });

  test('gains a token after each share of the minute, to the microsecond', () => {
    const empty = drained(60, 60);
    expect(takeFromBucket(later(empty, SECOND - 1), 60, 1).admitted).toBe(false);
    expect(takeFromBucket(later(empty, SECOND), 60, 1).admitted).toBe(true);
    expect(takeFromBucket(later(empty, 5 * SECOND), 60, 5).admitted).toBe(true);
    expect(takeFromBucket(later(empty, 5 * SECOND), 60, 6).admitted).toBe(false);
  });

  test('admits more than it can hold when it is full, and is then in debt', () => {
    const debt = takeFromBucket(full, 60, 150);
    expect(debt).toEqual({ now, fullAt: now + 150 * SECOND, admitted: true });
    expect(describeTokens(debt, 60, 150)).toEqual({
      admitted: true,
      remaining: 0,
      resetSeconds: 150,
      retrySeconds: 0,
    });
    // One token is available when the debt is paid except for what a full bucket may owe.
    const refused = takeFromBucket(later(debt, 10 * SECOND), 60, 1);
    expect(refused.admitted).toBe(false);
    expect(describeTokens(refused, 60, 1).retrySeconds).toBe(81);
    // A bucket that lacks one token is not full: the cost is refused until it is.
    const almost = takeFromBucket(full, 60, 1);
    const again = takeFromBucket(almost, 60, 150);
    expect(again.admitted).toBe(false);
    expect(describeTokens(again, 60, 150).retrySeconds).toBe(1);
  });

  test('never rounds against the caller', () => {
    // A seventh of a minute is not a whole number of microseconds.
    expect(takeFromBucket(full, 7, 1).fullAt - now).toBe(8_571_428);
    expect(takeFromBucket(full, 7, 7).fullAt - now).toBe(MINUTE);
  });

  test('returns what is left, when it is full, and the wait of a refused call', () => {
    const half = takeFromBucket(drained(60, 29), 60, 1);
    expect(describeTokens(half, 60, 1)).toEqual({
      admitted: true,
      remaining: 30,
      resetSeconds: 30,
      retrySeconds: 0,
    });
    const refused = takeFromBucket(drained(60, 60), 60, 1);
    expect(describeTokens(refused, 60, 1)).toEqual({
      admitted: false,
      remaining: 0,
      resetSeconds: 60,
      retrySeconds: 1,
    });
    // The returned wait is sufficient.
    const waited = later(refused, describeTokens(refused, 60, 1).retrySeconds * SECOND);
    expect(takeFromBucket(waited, 60, 1).admitted).toBe(true);
    // A fraction of a token does not count.
    const part = takeFromBucket(later(drained(60, 60), 1.5 * SECOND), 60, 1);
    expect(describeTokens(part, 60, 1).remaining).toBe(0);
  });
});

describe('a caller that waits as long as a refusal states', () => {
  const bucket = fc.record({
    perMinute: fc.integer({ min: 1, max: 10_000 }),
    drawn: fc.integer({ min: 1, max: 20_000 }),
    passed: fc.nat({ max: MINUTE }),
    cost: fc.integer({ min: 1, max: 20_000 }),
  });

  test('is admitted, and is refused a microsecond earlier', () => {
    let refusals = 0;
    fc.assert(
      fc.property(bucket, ({ perMinute, drawn, passed, cost }) => {
        const state = later(takeFromBucket(full, perMinute, drawn), passed);
        const tried = takeFromBucket(state, perMinute, cost);
        if (tried.admitted) return;
        refusals++;
        const { retrySeconds } = describeTokens(tried, perMinute, cost);
        const wait = Math.round(retrySeconds * SECOND);
        expect(takeFromBucket(later(state, wait), perMinute, cost).admitted).toBe(true);
        expect(takeFromBucket(later(state, wait - 1), perMinute, cost).admitted).toBe(false);
      }),
      { numRuns: 3_000 },
    );
    expect(refusals).toBeGreaterThan(1_000);
  });
});

describe('a metered request', () => {
  test('gets both limits when it is admitted', () => {
    const said = describeRequest(drained(60, 1), 60, { refusedBy: null, dayRemaining: 12 });
    expect(said).toEqual({
      admitted: true,
      refusedBy: null,
      minuteRemaining: 59,
      minuteResetSeconds: 1,
      dayRemaining: 12,
      dayResetSeconds: 43_200,
      retrySeconds: 0,
    });
  });

  test('waits for a token when the minute refuses it, for midnight when the day does', () => {
    const empty = drained(60, 60);
    const byMinute = describeRequest(empty, 60, { refusedBy: 'minute', dayRemaining: 3 });
    expect(byMinute).toMatchObject({ admitted: false, retrySeconds: 1, dayRemaining: 3 });
    const byDay = describeRequest(full, 60, { refusedBy: 'day', dayRemaining: 0 });
    expect(byDay).toMatchObject({ admitted: false, retrySeconds: 43_200, minuteRemaining: 60 });
  });

  test('has a second of its day left right before midnight', () => {
    const late = { now: now + DAY / 2 - SECOND, fullAt: now + DAY / 2 - SECOND };
    const said = describeRequest(late, 60, { refusedBy: 'day', dayRemaining: 0 });
    expect(said.dayResetSeconds).toBe(1);
    expect([dayOf(late.now), dayOf(late.now + SECOND)]).toEqual([20_000, 20_001]);
  });
});

describe('concurrent requests', () => {
  const key = { requestsOf: 'k', requestsPerMinute: 60, requestsPerDay: 100 };

  test('get their results in order, and the first ones are admitted', () => {
    const said = describeRequests(key, { ...full, used: 10, admitted: 2 }, 4);
    expect(
      said.map(({ refusedBy, minuteRemaining, dayRemaining }) => [
        refusedBy,
        minuteRemaining,
        dayRemaining,
      ]),
    ).toEqual([
      [null, 59, 89],
      [null, 58, 88],
      ['minute', 58, 88],
      ['minute', 58, 88],
    ]);
  });

  test('wait for the next token of an empty bucket', () => {
    const empty = drained(60, 58);
    const said = describeRequests(key, { ...empty, used: 0, admitted: 2 }, 3);
    expect(said.map(({ admitted }) => admitted)).toEqual([true, true, false]);
    expect(said[2]).toMatchObject({ refusedBy: 'minute', minuteRemaining: 0, retrySeconds: 1 });
  });

  test('beyond the day are refused by the day, even when the minute refuses them too', () => {
    const said = describeRequests(key, { ...full, used: 98, admitted: 2 }, 3);
    expect(said.map(({ refusedBy }) => refusedBy)).toEqual([null, null, 'day']);
    expect(said.map(({ dayRemaining }) => dayRemaining)).toEqual([1, 0, 0]);
    expect(said[2]?.retrySeconds).toBe(43_200);
    // The count may exceed a limit that was lowered since.
    const over = describeRequests(key, { ...full, used: 130, admitted: 0 }, 1);
    expect(over[0]).toMatchObject({ refusedBy: 'day', dayRemaining: 0 });
  });
});
