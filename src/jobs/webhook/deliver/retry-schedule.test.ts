import { expect, test } from 'vitest';
import { nextWait, parseRetryAfter } from './retry-schedule.ts';

const HOUR = 3600;
const waits = [5, 300, 1800, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];

test('a delivery is attempted ten times: at once and after each wait of the schedule', () => {
  expect(waits.map((_wait, index) => nextWait(index + 1, null, 0))).toEqual(waits);
  expect(nextWait(10, null, 0)).toBeNull();
  expect(nextWait(10, 60, 0)).toBeNull();
});

test('a wait is longer by up to a fifth, never shorter', () => {
  expect(nextWait(2, null, 1)).toBe(360);
  expect(nextWait(2, null, 0.5)).toBe(330);
});

test('Retry-After postpones a delivery by a day at most, and never brings it forward', () => {
  expect(nextWait(1, 120, 0)).toBe(120);
  expect(nextWait(3, 120, 0)).toBe(1800);
  expect(nextWait(1, 1_000_000, 0)).toBe(24 * HOUR);
  expect(nextWait(1, Number.POSITIVE_INFINITY, 0)).toBe(24 * HOUR);
});

const now = new Date('2026-11-20T12:00:00Z');
test.each([
  ['120', 120],
  ['0', 0],
  ['2000000000', 2_000_000_000],
  ['Fri, 20 Nov 2026 12:01:30 GMT', 90],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
  ['soon', null],
  ['-5', null],
  ['1e9', null],
  ['', null],
  [null, null],
])('Retry-After: %s is %s seconds', (header, seconds) => {
  expect(parseRetryAfter(header, now)).toBe(seconds);
});
