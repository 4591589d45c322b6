import { expect, test } from 'vitest';
import { runsPerMonth } from './runs-per-month.ts';

const at = (...minutes: number[]) => minutes.map((one) => new Date(one * 60_000).toISOString());

test.each([
  ['every five minutes', at(0, 5, 10, 15, 20), 8640],
  ['every day', at(0, 1440, 2880, 4320, 5760), 30],
  ['every month', at(0, 43_200, 86_400), 1],
  ['every year', at(0, 525_600), 1],
])('a schedule %s runs so often in a month', (_, times, runs) => {
  expect(runsPerMonth(times)).toBe(runs);
});

test('a schedule that runs once has no pace', () => {
  expect(runsPerMonth(at(0))).toBeNull();
  expect(runsPerMonth([])).toBeNull();
});
