import { z } from 'zod';
import { listUsage, type UsagePlace, type UsageRow } from '../../core/credits/credits.sql.ts';
import { readCancellable } from '../../core/db/cancellable.ts';
import { type AppError, invalidParameter } from '../../core/lib/errors.ts';
import { clientGone } from '../client-gone.ts';
import { definePage } from '../define-page.ts';

const DAY_MS = 86_400_000;
/** Default number of days. */
const DAYS_DEFAULT = 30;
const DAYS_MAX = 366;

/** No ledger line is earlier, and the days before it must be valid dates too. */
const FIRST_DAY = '1970-01-01';

const day = z.iso.date().refine((text) => text >= FIRST_DAY, `must be a day from ${FIRST_DAY} on`);

const usageSchema = z.strictObject({
  day: z.string(),
  kind: z.enum(['grant', 'charge', 'refund']),
  operation: z.string().nullable(),
  batch_id: z.string().nullable(),
  credits: z.number().int(),
  units: z.number().int(),
  lines: z.number().int(),
});

/** Lists the changes of the wallet: sums of ledger lines by UTC day, kind, operation and batch, latest first. */
export const getUsageRoute = definePage({
  path: '/v1/usage',
  summary: 'Ledger lines by day, operation and batch',
  description: 'A page of usage.',
  scope: 'account',
  item: usageSchema,
  filter: { from: day.optional(), to: day.optional() },
  limit: { default: 100, max: 1000 },
  cursor: z
    .string()
    .max(400)
    .refine((text) => parseCursor(text) !== null, 'is not a cursor of this call'),
  async read({ context, key, query, response }, { before, limit }) {
    const to = query.to ?? new Date().toISOString().slice(0, 10);
    const from = query.from ?? dayBefore(to, DAYS_DEFAULT - 1);
    if (from > to || from < dayBefore(to, DAYS_MAX)) throw badRange();
    // Calls and batches of test keys move no credits.
    if (key.mode === 'test') return [];
    const after = before === null ? null : parseCursor(before);
    const reading = { signal: clientGone(response), control: context.watchSql };
    return readCancellable(context.sql, reading, (tx) =>
      listUsage(tx, key.accountId, { from, to, after, limit }),
    );
  },
  cursorOf,
  view: ({ batchId, amount, ...row }) => ({ ...row, batch_id: batchId, credits: amount }),
});

function dayBefore(text: string, days: number): string {
  return new Date(Date.parse(text) - days * DAY_MS).toISOString().slice(0, 10);
}

function cursorOf({ day: on, kind, operation, batchId }: UsageRow): string {
  const place: UsagePlace = [on, kind, operation ?? '', batchId ?? ''];
  return Buffer.from(place.join('|')).toString('base64url');
}

function parseCursor(text: string): UsagePlace | null {
  const parts = Buffer.from(text, 'base64url').toString('utf8').split('|');
  const [on, kind, operation, batch] = parts;
  if (parts.length !== 4 || !day.safeParse(on).success || text.includes('\0')) return null;
  if (!/^[\w.-]*$/.test(`${kind}${operation}${batch}`)) return null;
  return [on ?? '', kind ?? '', operation ?? '', batch ?? ''];
}

function badRange(): AppError {
  const message = `must be a day up to \`to\`, at most ${DAYS_MAX} days before it`;
  return invalidParameter('from', message);
}
