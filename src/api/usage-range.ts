/** The days and the key that a request for usage is about. */
import { z } from 'zod';
import type { LedgerRange } from '../core/credits/credits.sql.ts';
import { dayBefore } from '../core/credits/credits.ts';
import { type AppError, invalidParameter } from '../core/lib/errors.ts';

/** Default number of days. */
const DAYS_DEFAULT = 30;
const DAYS_MAX = 366;

/** No ledger line is earlier, and the days before it must be valid dates too. */
const FIRST_DAY = '1970-01-01';

export const day = z.iso
  .date()
  .refine((text) => text >= FIRST_DAY, `must be a day from ${FIRST_DAY} on`);

/** Query parameters. */
export const usageFilter = {
  from: day.optional(),
  to: day.optional(),
  key_id: z.uuid().optional(),
} as const;

/** The range of a query; the last 30 days by default. Throws `AppError` 400 when `from` is not before `to`, or too far. */
export function usageRange(
  accountId: string,
  query: { from?: string | undefined; to?: string | undefined; key_id?: string | undefined },
): LedgerRange {
  const to = query.to ?? new Date().toISOString().slice(0, 10);
  const from = query.from ?? dayBefore(to, DAYS_DEFAULT - 1);
  if (from > to || from < dayBefore(to, DAYS_MAX)) throw badRange();
  return { accountId, from, to, keyId: query.key_id ?? null };
}

function badRange(): AppError {
  const message = `must be a day up to \`to\`, at most ${DAYS_MAX} days before it`;
  return invalidParameter('from', message);
}
