/**
 * Converts between instants and local times of a zone. Offsets come from the zone data of Node. Local times are
 * milliseconds as if the zone were UTC.
 */
import { invalidParameter } from '../../core/lib/errors.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** All zones are within these offsets behind and ahead of UTC. */
const WEST_MS = 13 * HOUR_MS;
const EAST_MS = 15 * HOUR_MS;

export interface ZoneClock {
  /** The local time of an instant, to the second. */
  localOf(instant: number): number;
  /** The instant of a local time: the first of two, or the first after the gap for a skipped time. */
  instantOf(local: number): number;
}

/** The clock of an IANA zone. Throws `AppError` 400 `invalid_parameter` for an unknown name. */
export function zoneClock(zone: string): ZoneClock {
  const format = formatOf(zone);
  const localOf = (instant: number): number => {
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value);
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
  const offsetAt = (instant: number) => localOf(instant) - Math.floor(instant / 1000) * 1000;
  return {
    localOf,
    instantOf(local) {
      // At most one clock change is between the two, and so is the instant of `local`.
      const before = local - EAST_MS;
      const after = local + WEST_MS;
      const offsets = [offsetAt(before), offsetAt(after)];
      const shown = offsets
        .map((offset) => local - offset)
        .filter((instant) => localOf(instant) === local);
      return shown.length > 0 ? Math.min(...shown) : firstAfterGap(before, after, offsetAt);
    },
  };
}

/** The minute between two instants at which the clocks change. */
function firstAfterGap(
  before: number,
  after: number,
  offsetAt: (instant: number) => number,
): number {
  let low = Math.floor(before / MINUTE_MS);
  let high = Math.ceil(after / MINUTE_MS);
  const last = offsetAt(high * MINUTE_MS);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * MINUTE_MS) === last) high = middle;
    else low = middle;
  }
  return high * MINUTE_MS;
}

/** By the name that Node gives the zone: callers may spell it in any case. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  try {
    if (!/^[A-Za-z]/.test(zone)) throw new RangeError(`not a zone name: ${zone}`);
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'iso8601',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(format.resolvedOptions().timeZone, format);
    return format;
  } catch (cause) {
    const message = `\`${zone}\` is not an IANA time zone such as Europe/London or UTC`;
    throw invalidParameter('time_zone', message, { cause });
  }
}
