/** The clock of this process and that of the database. Leases run on the latter alone; dates, ages and signatures on both. */
import { uptime as readUptime } from 'node:os';
import { conflict } from '../lib/errors.ts';
import type { Sql } from './client.ts';

/** Returns the time on the database's clock, which all processes share. */
export async function readClock(sql: Sql): Promise<Date> {
  const [row] = await sql<[{ now: Date }]>`select clock_timestamp() as now`;
  return row.now;
}

/** An hour: a certificate, a signature or a schedule may suffer from less, but nothing is deleted that should stay. */
const DIFFERENCE_MS_MAX = 3_600_000;

/**
 * Throws `AppError` 409 `clock_wrong` when this process and the database differ by more than an hour: by a day, schedules
 * would run early, keys expire and files be deleted that are not old.
 */
export async function assertClocksAgree(sql: Sql, now: () => number = Date.now): Promise<void> {
  const asked = now();
  const difference = (await readClock(sql)).getTime() - (asked + now()) / 2;
  if (Math.abs(difference) <= DIFFERENCE_MS_MAX) return;
  const seconds = Math.round(Math.abs(difference) / 1000);
  const direction = difference > 0 ? 'ahead of' : 'behind';
  throw conflict(
    'clock_wrong',
    `The clock of the database is ${seconds} s ${direction} that of this machine. Correct the wrong one (timedatectl), ` +
      'and let both follow NTP. Nothing is deleted by age meanwhile, and no schedule runs.',
  );
}

/** Time for an operator, or NTP, to correct a clock that jumped ahead. */
const DISTRUST_MS = 3_600_000;

/**
 * Returns a clock that follows a jump of the machine's clock ahead by more than an hour only after an hour, and any other change
 * at once. It detects the jump by the uptime, which is never set: the only second clock when the database is on the same machine.
 */
export function openSteadyClock({
  now = Date.now,
  uptime = () => readUptime() * 1000,
}: {
  now?: () => number;
  uptime?: () => number;
} = {}): () => number {
  let startedAt = now() - uptime();
  let aheadFrom: number | null = null;
  return () => {
    const up = uptime();
    const seen = now() - up;
    const isAhead = seen - startedAt > DIFFERENCE_MS_MAX;
    aheadFrom = isAhead ? (aheadFrom ?? up) : null;
    if (aheadFrom === null || up - aheadFrom >= DISTRUST_MS) startedAt = seen;
    return startedAt + up;
  };
}
