/**
 * Computes when a schedule runs next. A local time that the clocks skip runs at the first minute after the gap;
 * one that occurs twice runs at the first occurrence. Local times in order give instants in order, so the next
 * run is the first local time whose instant is after the given one.
 */
import { invalidParameter } from '../../core/lib/errors.ts';
import { type CronTimes, parseCron } from './cron.ts';
import { zoneClock } from './zone-clock.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A 29 February on a given weekday comes after forty years at the latest: on a Sunday, from 2088 to 2128. */
const DAYS_MAX = 41 * 366;

/**
 * The first instant after `after` at which the expression is due on the clocks of the zone. Pure. Throws
 * `AppError` 400 `invalid_parameter` for an invalid expression or zone, and for an expression that never comes
 * due.
 */
export function nextRun(cron: string, zone: string, after: Date): Date {
  return findNext(parseCron(cron), zoneClock(zone), after);
}

/** The next `count` instants after `after`, ascending. Pure. Throws as `nextRun`. */
export function nextRuns(cron: string, zone: string, after: Date, count: number): Date[] {
  const times = parseCron(cron);
  const clock = zoneClock(zone);
  const runs: Date[] = [];
  for (let last = after; runs.length < count; runs.push(last)) last = findNext(times, clock, last);
  return runs;
}

function findNext(times: CronTimes, clock: ReturnType<typeof zoneClock>, after: Date): Date {
  const from = Math.floor(clock.localOf(after.getTime()) / MINUTE_MS) * MINUTE_MS;
  for (const local of localTimes(times, from)) {
    const instant = clock.instantOf(local);
    if (instant > after.getTime()) return new Date(instant);
  }
  const message = 'never comes due. Choose a day that the month has';
  throw invalidParameter('cron', message);
}

/** The local times of the expression after `from`, ascending, as milliseconds of a clock without zone. */
function* localTimes({ minutes, hours, isDay }: CronTimes, from: number): Generator<number> {
  const firstDay = Math.floor(from / DAY_MS) * DAY_MS;
  for (let day = firstDay; day < firstDay + DAYS_MAX * DAY_MS; day += DAY_MS) {
    const date = new Date(day);
    const civil = {
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
      weekday: date.getUTCDay(),
    };
    if (!isDay(civil)) continue;
    for (const hour of hours) {
      for (const minute of minutes) {
        const local = day + (hour * 60 + minute) * MINUTE_MS;
        if (local > from) yield local;
      }
    }
  }
}
