import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextRun } from '../../jobs/schedule/next-run.ts';
import { readCron, sayCron, type Times, withKind, writeCron } from './cron-times.ts';

const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
const weekday = fc.integer({ min: 0, max: 6 });
const day = fc.oneof(fc.integer({ min: 1, max: 31 }).map(String), fc.constant('L'));
const usual: fc.Arbitrary<Times> = fc.oneof(
  fc.record({ kind: fc.constantFrom('daily' as const, 'weekdays' as const), time }),
  fc.record({ kind: fc.constant('weekly' as const), time, weekday }),
  fc.record({ kind: fc.constant('monthly' as const), time, day }),
);
const start = new Date('2026-11-20T12:00:00Z');

describe('usual times', () => {
  test('come back from the expression that they are written as', () => {
    fc.assert(
      fc.property(usual, (times) => {
        expect(readCron(writeCron(times))).toEqual(times);
      }),
    );
  });

  test('are due when they say, by the service’s own clock', () => {
    fc.assert(
      fc.property(usual, (times) => {
        if (times.kind === 'cron') return;
        const next = nextRun(writeCron(times), 'UTC', start);
        expect(next.toISOString().slice(11, 16)).toBe(times.time);
        if (times.kind === 'weekdays') expect([0, 6]).not.toContain(next.getUTCDay());
        if (times.kind === 'weekly') expect(next.getUTCDay()).toBe(times.weekday);
        const isLast = new Date(next.getTime() + 86_400_000).getUTCDate() === 1;
        if (times.kind === 'monthly') {
          expect(times.day === 'L' ? isLast : next.getUTCDate() === Number(times.day)).toBe(true);
        }
      }),
    );
  });

  test('of another kind keep the time of day', () => {
    expect(writeCron(withKind(readCron('30 4 * * *'), 'weekly'))).toBe('30 4 * * 1');
    expect(writeCron(withKind(readCron('30 4 * * 1-5'), 'cron'))).toBe('30 4 * * 1-5');
  });
});

test.each(['*/15 * * * *', '0 2,14 * * *', '0 2 * 1 *', '0 2 1 * 1', '0 25 * * *', '', '0 2 * *'])(
  'what is more, or wrong, stays the expression that it is: %s',
  (cron) => {
    expect(writeCron(readCron(cron))).toBe(cron);
    expect(sayCron(cron)).toBe(cron);
  },
);

test.each([
  ['5 2 * * *', 'Every day at 02:05'],
  ['0 18 * * 1-5', 'Monday to Friday at 18:00'],
  ['0  7 * *  0', 'Every Sunday at 07:00'],
  ['0 7 15 * *', 'On day 15 of the month at 07:00'],
  ['0 7 L * *', 'On the last day of the month at 07:00'],
])('%s in words: %s', (cron, words) => {
  expect(sayCron(cron)).toBe(words);
});
