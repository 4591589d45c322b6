import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { AppError } from '../../core/lib/errors.ts';
import { nextRun, nextRuns } from './next-run.ts';
import { zoneClock } from './zone-clock.ts';

/** The next runs as UTC minutes. */
function runs(cron: string, zone: string, after: string, count: number): string[] {
  const found = nextRuns(cron, zone, new Date(after), count);
  return found.map((run) => run.toISOString().slice(0, 16));
}

describe('a local time that the clocks skip runs at the first minute after the gap', () => {
  test.each([
    [
      'New York',
      '30 2 * * *',
      'America/New_York',
      '2026-03-07T12:00Z',
      ['2026-03-08T07:00', '2026-03-09T06:30'],
    ],
    [
      'London',
      '30 1 * * *',
      'Europe/London',
      '2026-03-28T12:00Z',
      ['2026-03-29T01:00', '2026-03-30T00:30'],
    ],
    [
      'Lord Howe, half an hour',
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-03T00:00Z',
      ['2026-10-03T15:30', '2026-10-04T15:15'],
    ],
    [
      'Samoa, a whole day',
      '0 9 * * *',
      'Pacific/Apia',
      '2011-12-29T18:00Z',
      ['2011-12-29T19:00', '2011-12-30T10:00', '2011-12-30T19:00'],
    ],
  ])('%s', (_, cron, zone, after, expected) => {
    expect(runs(cron, zone, after, expected.length)).toEqual(expected);
  });

  test('and all times in one gap, with the minute after it, are one run', () => {
    expect(runs('*/15 1-3 * * *', 'Europe/London', '2026-03-29T00:50Z', 3)).toEqual([
      '2026-03-29T01:00',
      '2026-03-29T01:15',
      '2026-03-29T01:30',
    ]);
  });
});

describe('a local time that comes twice runs at the first of the two', () => {
  test.each([
    [
      'New York',
      '30 1 * * *',
      'America/New_York',
      '2026-10-31T12:00Z',
      ['2026-11-01T05:30', '2026-11-02T06:30'],
    ],
    [
      'London',
      '30 1 * * *',
      'Europe/London',
      '2026-10-24T12:00Z',
      ['2026-10-25T00:30', '2026-10-26T01:30'],
    ],
    [
      'Lord Howe, half an hour',
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2026-04-03T20:00Z',
      ['2026-04-04T14:45', '2026-04-05T15:15'],
    ],
    [
      'every half hour',
      '*/30 * * * *',
      'Europe/London',
      '2026-10-25T00:00Z',
      ['2026-10-25T00:30', '2026-10-25T02:00'],
    ],
  ])('%s', (_, cron, zone, after, expected) => {
    expect(runs(cron, zone, after, expected.length)).toEqual(expected);
  });

  test('also when the starting point is between the two', () => {
    expect(runs('30 1 * * *', 'Europe/London', '2026-10-25T01:10Z', 1)).toEqual([
      '2026-10-26T01:30',
    ]);
  });
});

describe('the calendar', () => {
  test.each([
    [
      'a zone without changes',
      '0 2 * * *',
      'Asia/Kolkata',
      '2026-03-28T20:30Z',
      ['2026-03-29T20:30', '2026-03-30T20:30'],
    ],
    [
      'leap days',
      '0 0 29 2 *',
      'UTC',
      '2027-01-01T00:00Z',
      ['2028-02-29T00:00', '2032-02-29T00:00'],
    ],
    ['leap days across a century', '0 0 29 2 *', 'UTC', '2096-03-01T00:00Z', ['2104-02-29T00:00']],
    [
      'leap days on a Sunday, every 28 years',
      '0 0 29 2 */7',
      'UTC',
      '2026-11-27T00:00Z',
      ['2032-02-29T00:00', '2060-02-29T00:00'],
    ],
    [
      'leap days on a Sunday across a century',
      '0 0 29 2 */7',
      'UTC',
      '2088-03-01T00:00Z',
      ['2128-02-29T00:00'],
    ],
    [
      'months of 31 days alone',
      '0 12 31 * *',
      'UTC',
      '2026-01-31T12:00Z',
      ['2026-03-31T12:00', '2026-05-31T12:00'],
    ],
    [
      'the last day of each month',
      '0 0 L * *',
      'UTC',
      '2027-12-31T00:00Z',
      ['2028-01-31T00:00', '2028-02-29T00:00', '2028-03-31T00:00'],
    ],
    [
      'weekdays by name',
      '0 6 * * MON-WED',
      'UTC',
      '2026-11-20T00:00Z',
      ['2026-11-23T06:00', '2026-11-24T06:00', '2026-11-25T06:00', '2026-11-30T06:00'],
    ],
    ['Sunday as 7', '0 6 * * 7', 'UTC', '2026-11-20T00:00Z', ['2026-11-22T06:00']],
    [
      'either day where both are said',
      '0 0 1 * 1',
      'UTC',
      '2026-11-25T00:00Z',
      ['2026-11-30T00:00', '2026-12-01T00:00', '2026-12-07T00:00'],
    ],
    [
      'strictly after the given minute',
      '*/20 * * * *',
      'UTC',
      '2026-01-01T00:20:00Z',
      ['2026-01-01T00:40'],
    ],
    ['inside a minute', '*/20 * * * *', 'UTC', '2026-01-01T00:19:59.999Z', ['2026-01-01T00:20']],
  ])('%s', (_, cron, zone, after, expected) => {
    expect(runs(cron, zone, after, expected.length)).toEqual(expected);
  });
});

describe('invalid input is refused with the name and position of the field', () => {
  test.each([
    ['61 * * * *', 'minute `61` at position 1'],
    ['0 2  x * *', 'day of month `x` at position 6'],
    ['0 2 * * 9', 'day of week `9` at position 9'],
    ['0 2 * *', 'must have five fields'],
    ['0 0 2 * * *', 'must have five fields'],
    ['@daily', 'must have five fields'],
    ['0 2 30 2 *', 'day of month and month: none of these months has such a day.'],
    ['H * * * *', 'minute `H` at position 1'],
    ['0 0 ? * 1', 'day of month `?` at position 5'],
    ['0 0 * * 5#2', 'day of week `5#2` at position 9'],
    ['* * * * *', 'at most every 5 minutes'],
    ['*/4 * * * *', 'at most every 5 minutes'],
    ['0,58 * * * *', 'at most every 5 minutes'],
    ['0,58 0,23 * * *', 'at most every 5 minutes'],
  ])('%s', (cron, said) => {
    const refused = () => nextRun(cron, 'UTC', new Date());
    expect(refused).toThrow(AppError);
    expect(refused).toThrow(said);
  });

  test.each(['Mars/Base', '', '+01:00'])('the zone %j', (zone) => {
    expect(() => nextRun('0 2 * * *', zone, new Date())).toThrow('time_zone: ');
  });

  test.each(['*/5 * * * *', '0,58 2 * * *', '0,58 2,4 * * *'])(
    'and %s is not too often',
    (cron) => {
      expect(nextRun(cron, 'UTC', new Date())).toBeInstanceOf(Date);
    },
  );
});

describe('for any schedule, zone and time', () => {
  const zones = [
    'UTC',
    'Europe/London',
    'America/New_York',
    'Australia/Lord_Howe',
    'America/Sao_Paulo',
    'Africa/Casablanca',
    'Asia/Kathmandu',
    'Pacific/Chatham',
  ];
  const crons = fc
    .tuple(
      fc.constantFrom('0', '30', '*/5', '15,45', '7-59/10'),
      fc.constantFrom('*', '1', '2', '0-3', '*/6', '23'),
      fc.constantFrom('*', '*', '1,15', 'L', '31'),
      fc.constantFrom('*', '*', '3,4,10,11'),
      fc.constantFrom('*', '*', '0', 'MON-FRI'),
    )
    .map((fields) => fields.join(' '));
  const anyTime = fc.date({
    min: new Date('2020-01-01'),
    max: new Date('2035-01-01'),
    noInvalidDate: true,
  });

  test('runs strictly increase, on whole minutes, and no local time has two', () => {
    fc.assert(
      fc.property(crons, fc.constantFrom(...zones), anyTime, (cron, zone, start) => {
        const clock = zoneClock(zone);
        const locals = new Set<number>();
        let last = start;
        for (let run = 0; run < 12; run++) {
          const next = nextRun(cron, zone, last);
          expect(next.getTime()).toBeGreaterThan(last.getTime());
          expect(next.getTime() % 60_000).toBe(0);
          locals.add(clock.localOf(next.getTime()));
          // No run is skipped: a moment before the run, the next run is the same.
          expect(nextRun(cron, zone, new Date(next.getTime() - 1))).toEqual(next);
          last = next;
        }
        expect(locals.size).toBe(12);
      }),
      { numRuns: 100 },
    );
  });
});

test('only the name of a zone is remembered, not the ways to spell it', () => {
  let made = 0;
  class Counted extends Intl.DateTimeFormat {
    constructor(...given: ConstructorParameters<typeof Intl.DateTimeFormat>) {
      super(...given);
      made++;
    }
  }
  vi.stubGlobal('Intl', { DateTimeFormat: Counted });
  for (const spelling of ['aMERICA/lima', 'America/LIMA', 'aMERICA/lima']) zoneClock(spelling);
  expect(made).toBe(3);
  zoneClock('America/Lima');
  expect(made).toBe(3);
  vi.unstubAllGlobals();
});
