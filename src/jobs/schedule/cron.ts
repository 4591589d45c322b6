/**
 * Parses cron expressions of five fields into tests on a calendar day and time. The grammar is that of the
 * library; syntax that cron dialects read differently (`H`, `?`, `#`, `W`, seconds) is refused.
 */
import { CronExpressionParser } from 'cron-parser';
import { type AppError, invalidParameter } from '../../core/lib/errors.ts';

/** The times of a cron expression, on a clock without a zone. */
export interface CronTimes {
  /** Minutes of the hour, ascending. */
  minutes: readonly number[];
  /** Hours of the day, ascending. */
  hours: readonly number[];
  isDay(day: CivilDay): boolean;
}

/** A day of the calendar. `weekday` is 0 for Sunday. */
export interface CivilDay {
  year: number;
  month: number;
  day: number;
  weekday: number;
}

const fieldNames = ['minute', 'hour', 'day of month', 'month', 'day of week'] as const;
/** Three letters name a month or weekday; `L` is the last day of the month. */
const item = String.raw`(\*|(\d{1,2}|[a-z]{3})(-(\d{1,2}|[a-z]{3}))?)(\/\d{1,2})?`;
const list = new RegExp(`^${item}(,${item})*$`, 'i');
const LAST_DAY = /^L$/i;

/** Schedules that run more often would mostly wait for their own previous run. */
const EVERY_MINUTES_MIN = 5;

/**
 * Parses an expression. Throws `AppError` 400 `invalid_parameter` that names the field of the expression and
 * its position, also for one that runs more often than every five minutes.
 */
export function parseCron(cron: string): CronTimes {
  const fields = [...cron.matchAll(/\S+/g)];
  if (fields.length !== fieldNames.length) {
    throw invalidCron(
      `must have five fields (${fieldNames.join(', ')}), as \`30 2 * * 1-5\`; it has ${fields.length}`,
    );
  }
  for (const [place, [text]] of fields.entries())
    checkField(place, text, (fields[place]?.index ?? 0) + 1);
  const { minute, hour, dayOfMonth, month, dayOfWeek } = parseFields(cron.trim());
  const minutes = minute.values.map(Number);
  const hours = hour.values.map(Number);
  refuseTooOften(minutes, hours);
  const months = new Set<number>(month.values);
  const days = new Set<number | string>(dayOfMonth.values);
  const weekdays = new Set<number | string>(dayOfWeek.values.map((day) => Number(day) % 7));
  // As in Vixie cron: two restricted fields mean either day; with a star only the other field counts.
  const either = [2, 4].every((place) => !fields[place]?.[0].startsWith('*'));
  return {
    minutes,
    hours,
    isDay(civil) {
      if (!months.has(civil.month)) return false;
      const byDate = days.has(civil.day) || (days.has('L') && isLastOfMonth(civil));
      const byWeekday = weekdays.has(civil.weekday);
      return either ? byDate || byWeekday : byDate && byWeekday;
    },
  };
}

function checkField(place: number, text: string, position: number): void {
  const field = fieldNames[place] ?? '';
  const where = `${field} \`${text}\` at position ${position}`;
  if (!list.test(text) && !(field === 'day of month' && LAST_DAY.test(text))) {
    throw invalidCron(`${where}: must be numbers, ranges, lists, steps or \`*\``);
  }
  const alone = fieldNames.map((_, other) => (other === place ? text : '*')).join(' ');
  try {
    CronExpressionParser.parse(alone);
  } catch (error) {
    throw invalidCron(`${where}: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

/** Parses the fields together. Each was parsed before, so that only a day that none of the months has is refused. */
function parseFields(cron: string) {
  try {
    return CronExpressionParser.parse(cron).fields;
  } catch (error) {
    throw invalidCron('day of month and month: none of these months has such a day', error);
  }
}

function refuseTooOften(minutes: readonly number[], hours: readonly number[]): void {
  const gaps = minutes.slice(1).map((minute, index) => minute - (minutes[index] ?? 0));
  const hasNeighbours = hours.some((hour) => hours.includes((hour + 1) % 24));
  if (hasNeighbours) gaps.push(60 - (minutes.at(-1) ?? 0) + (minutes[0] ?? 0));
  if (gaps.every((gap) => gap >= EVERY_MINUTES_MIN)) return;
  throw invalidCron(
    `minute at position 1: a schedule runs at most every ${EVERY_MINUTES_MIN} minutes`,
  );
}

function isLastOfMonth({ year, month, day }: CivilDay): boolean {
  return new Date(Date.UTC(year, month, 0)).getUTCDate() === day;
}

function invalidCron(message: string, cause?: unknown): AppError {
  return invalidParameter('cron', message, { cause });
}
