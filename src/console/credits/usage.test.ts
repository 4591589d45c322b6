import { expect, it } from 'vitest';
import {
  balanceByDay,
  daysAgo,
  daysOf,
  forecast,
  mergeKeys,
  operationsOf,
  spendTrend,
  spentBy,
  spentByDay,
  type UsageLine,
} from './usage.ts';

const line = (day: string, credits: number, operation: string | null): UsageLine => ({
  day,
  kind: credits < 0 ? 'charge' : 'grant',
  operation,
  key_id: null,
  batch_id: null,
  credits,
  units: 1,
  lines: 1,
});
const lines = [
  line('2026-03-02', -5, 'people.enrich'),
  line('2026-03-02', -8, 'people.mobile'),
  line('2026-03-01', 1000, null),
  line('2026-02-28', -2, 'people.enrich'),
];

it('adds up what was spent, each day of the range by operation', () => {
  const days = spentByDay(lines, '2026-02-28', '2026-03-02');
  expect(days.map(({ day, total }) => [day, total])).toEqual([
    ['2026-02-28', 2],
    ['2026-03-01', 0],
    ['2026-03-02', 13],
  ]);
  expect(days[2]?.byOperation).toEqual(
    new Map([
      ['people.enrich', 5],
      ['people.mobile', 8],
    ]),
  );
});

it('names operations by what they cost, and no grant among them', () => {
  expect(operationsOf(lines)).toEqual([
    { name: 'people.mobile', credits: 8 },
    { name: 'people.enrich', credits: 7 },
  ]);
});

it('counts days over the end of a month and over a change of the clocks', () => {
  expect(daysOf('2026-03-28', '2026-04-01')).toHaveLength(5);
  expect(daysAgo(1, Date.parse('2026-03-01T00:10:00Z'))).toBe('2026-02-28');
});

it('adds up the lines of several keys', () => {
  const [one, other] = ['a', 'b'].map((key_id) => ({
    ...line('2026-03-02', -5, 'people.enrich'),
    key_id,
  }));
  const list = { ...line('2026-03-02', -5, 'people.enrich'), batch_id: 'list' };
  const merged = mergeKeys([one, list, other].filter((given) => given !== undefined));
  expect(merged.map(({ credits, units, batch_id }) => [credits, units, batch_id])).toEqual([
    [-10, 2, null],
    [-5, 1, 'list'],
  ]);
});

it('goes back from the present balance to that of each day', () => {
  const range = { from: '2026-02-28', to: '2026-03-03', balance: 1085 };
  expect(balanceByDay(lines, range)).toEqual([
    { day: '2026-02-28', balance: 98, added: 0 },
    { day: '2026-03-01', balance: 1098, added: 1000 },
    { day: '2026-03-02', balance: 1085, added: 0 },
    { day: '2026-03-03', balance: 1085, added: 0 },
  ]);
});

it('tells for how many days the balance lasts at the pace of these days', () => {
  const range = { from: '2026-02-28', to: '2026-03-02', balance: 1085 };
  expect(forecast(lines, range)).toEqual({ creditsPerDay: 5, days: 217 });
  expect(forecast([], range)).toBeNull();
  // The account began in these days, with its 1,000 credits.
  const young = lines.slice(0, 3);
  const left = { ...range, from: '2026-02-01', balance: 987 };
  expect(forecast(young, left)).toEqual({ creditsPerDay: 6.5, days: null });
  expect(forecast(young, { ...left, to: '2026-03-03' })).toMatchObject({ days: 227 });
  expect(forecast(young, { ...left, balance: 1987 })?.creditsPerDay).toBeLessThan(1);
  expect(forecast(lines, { ...range, balance: 0 })?.days).toBe(0);
});

it('adds up what was spent by key', () => {
  const keyed = lines.map((one, at) => ({ ...one, key_id: at < 2 ? 'a' : null }));
  expect(spentBy(keyed, ({ key_id }) => key_id)).toEqual(new Map([['a', 13]]));
});

it('compares the latest week with the week before, in a range that holds both', () => {
  const spent = [line('2026-03-14', -6, 'people.enrich'), line('2026-03-07', -4, 'people.mobile')];
  const trend = { days: 7, latest: 6, before: 4 };
  expect(spendTrend(spent, '2026-03-01', '2026-03-14')).toEqual(trend);
  expect(spendTrend(spent, '2026-02-01', '2026-03-14')).toEqual(trend);
  expect(spendTrend(spent, '2026-03-08', '2026-03-14')).toBeNull();
  expect(spendTrend([line('2026-03-13', 9, null)], '2026-03-01', '2026-03-14')).toBeNull();
});
