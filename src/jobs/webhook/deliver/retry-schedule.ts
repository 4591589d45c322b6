/** The retry schedule that Standard Webhooks recommends, three days in all. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Seconds before each attempt, counted from the end of the one before it. */
const waits = [
  ...[0, 5, 5 * MINUTE, 30 * MINUTE],
  ...[2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
];

/**
 * Jitter: each wait is longer by up to this share, so that deliveries that failed together do not retry
 * together.
 */
const JITTER = 0.2;

/** A receiver cannot put a delivery off for longer. */
const ASKED_SECONDS_MAX = 24 * HOUR;

/**
 * Seconds until the attempt after this one, the first being 1; null when it was the last. `askedSeconds` is
 * what the receiver asked for (Retry-After); `random` is from 0 to 1.
 */
export function nextWait(attempt: number, askedSeconds: number | null, random: number) {
  const wait = waits[attempt];
  if (wait === undefined) return null;
  return Math.max(wait * (1 + JITTER * random), Math.min(askedSeconds ?? 0, ASKED_SECONDS_MAX));
}

/** The seconds that a Retry-After header (RFC 9110, 10.2.3) asks for, however many; null when absent or invalid. */
export function parseRetryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null;
  if (/^\d+$/.test(header)) return Number(header);
  // `Date.parse` reads almost anything as a date.
  const at = header.endsWith(' GMT') ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, (at - now.getTime()) / 1000);
}
