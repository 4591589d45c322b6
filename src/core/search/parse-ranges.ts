/** Items that are numbers, times, or ranges of them. */
import type { Item } from './parse-items.ts';
import { badParameter } from './parse-query.ts';

/** Both ends inclusive; a null end is open. */
export interface Range {
  min: number;
  max: number | null;
}

/** From a time, up to another that is not included; null is open. UTC, `2024-01-31T12:00:00`. */
export interface Span {
  from: string;
  until: string | null;
}

const RANGE_SHAPE = /^([\d,]+)(?:\s*(-)\s*([\d,]*))?$/;
const PLAIN_NUMBER = /^\d+$/;
const GROUPED_NUMBER = /^\d{1,3}(?:,\d{3})+$/;

/** Parses `n`, `a-b` or `a-`, of whole numbers from 0. Throws `AppError` 400. */
export function parseRange(
  parameter: string,
  { text, position }: Item,
  { thousands }: { thousands: boolean },
): Range {
  const [, low = '', dash, high = ''] = RANGE_SHAPE.exec(text) ?? [];
  const numberOf = (digits: string): number => {
    const isNumber = PLAIN_NUMBER.test(digits) || (thousands && GROUPED_NUMBER.test(digits));
    const number = isNumber ? Number(digits.replaceAll(',', '')) : Number.NaN;
    if (Number.isSafeInteger(number)) return number;
    throw badParameter(parameter, position, 'must be a whole number `n`, or a range `a-b` or `a-`');
  };
  const min = numberOf(low);
  if (dash === undefined) return { min, max: min };
  const max = high === '' ? null : numberOf(high);
  if (max !== null && max < min) {
    throw badParameter(parameter, position, 'is a range that ends before it begins');
  }
  return { min, max };
}

const TIME_SHAPE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)Z?)?$/i;
const DAY_MS = 86_400_000;

/**
 * Parses a day, a time to the second, or `t1..t2` (half-open; `t1..` has no end), in UTC. Throws `AppError` 400.
 */
export function parseSpan(parameter: string, { text, position }: Item): Span {
  const fail = (message: string) => badParameter(parameter, position, message);
  const bounds = text.split('..').map((bound) => bound.trim());
  const [first = '', second] = bounds;
  const from = readTime(first);
  if (from === null || bounds.length > 2) {
    throw fail('must be a day or a time such as 2024-01-31T12:00:00, or a range `t1..t2`');
  }
  if (second === undefined)
    return { from: toTimestamp(from.at), until: toTimestamp(from.at + from.ms) };
  if (second === '') return { from: toTimestamp(from.at), until: null };
  const until = readTime(second);
  if (until === null) throw fail('ends with something that is neither a day nor a time');
  if (until.at <= from.at) throw fail('is a range that ends before it begins');
  return { from: toTimestamp(from.at), until: toTimestamp(until.at) };
}

/** Returns the moment that a text names, and its length; null for a day or time that does not exist. */
function readTime(text: string): { at: number; ms: number } | null {
  const [, day, time] = TIME_SHAPE.exec(text) ?? [];
  if (day === undefined) return null;
  const seconds = time === undefined ? '00:00:00' : time.length === 5 ? `${time}:00` : time;
  const at = Date.parse(`${day}T${seconds}Z`);
  // A day that the month lacks would roll over into the next one.
  if (!Number.isFinite(at) || !toTimestamp(at).startsWith(day) || day.startsWith('0000'))
    return null;
  return { at, ms: time === undefined ? DAY_MS : 1000 };
}

function toTimestamp(at: number): string {
  // The day after the last one has a five-digit year, and Postgres parses none with a plus.
  return new Date(at).toISOString().replace(/^\+0*/, '').slice(0, -5);
}
