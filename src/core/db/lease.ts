/** Leases and pauses: times until which a worker has something for itself, or nothing is tried, on the clock of the database. */
import type { Sql } from './client.ts';

/** Maximum difference between the clocks of a server and of the standby that takes over from it. */
const SKEW_SECONDS = 15;

type Fragment = ReturnType<Sql>;

/** The end of a lease of so many seconds that is granted or extended now. */
export function leaseEnd(sql: Sql, seconds: number | null, now: Fragment = sql`clock_timestamp()`) {
  return sql`${now} + make_interval(secs => ${seconds})`;
}

/**
 * Returns the condition that a lease of so many seconds is held, by its end; null without a lease. A lease that ends later
 * than a lease can was granted before the clock was set back, and does not count. If its holder is dead, it would be held for
 * as long as the clock was wrong; if the holder lives, it extends the lease within seconds, or another one does the work
 * again.
 */
export function isHeld(
  sql: Sql,
  until: Fragment,
  seconds: number,
  now: Fragment = sql`clock_timestamp()`,
) {
  return sql`(${until} > ${now} and ${until} <= ${leaseEnd(sql, seconds + SKEW_SECONDS, now)})`;
}

/** The condition that a moment is to come: it was noted before the clock was set back. */
export function isToCome(sql: Sql, at: Fragment, now: Fragment = sql`clock_timestamp()`): Fragment {
  return sql`(${at} > ${leaseEnd(sql, SKEW_SECONDS, now)})`;
}

/**
 * Returns pauses of at most so many seconds: `end`, the end of a pause that begins now, null for none, and `lasts`, the
 * condition that a pause has not ended, by its end, null without one. A longer pause is cut to the maximum. After the clock
 * was set back, a pause is over, as a lease is, or lasts for at most the maximum: with a short maximum, what was to wait for a
 * moment is tried again soon.
 */
export function pauseOf(secondsMax: number) {
  return {
    end: (sql: Sql, seconds: number | null) =>
      leaseEnd(sql, seconds === null ? null : Math.min(seconds, secondsMax)),
    lasts: (sql: Sql, until: Fragment) => isHeld(sql, until, secondsMax),
  };
}
