import { z } from 'zod';
import { ledgerKinds, type UsagePlace, type UsageRow } from '../../core/credits/credits.sql.ts';
import { listUsage } from '../../core/credits/credits.ts';
import { definePage } from '../http/define-page.ts';
import { readInTurn } from '../read-in-turn.ts';
import { day, usageFilter, usageRange } from '../usage-range.ts';

const usageSchema = z.strictObject({
  day: z.string(),
  kind: z.enum(ledgerKinds),
  operation: z.string().nullable(),
  key_id: z.string().nullable(),
  batch_id: z.string().nullable(),
  credits: z.number().int(),
  units: z.number().int(),
  lines: z.number().int(),
});

/** Lists the changes of the wallet: sums of ledger lines by UTC day, kind, operation, key and batch, latest first. */
export const getUsageRoute = definePage({
  path: '/v1/usage',
  summary: 'Ledger lines by day, operation, key and batch',
  description: 'A page of usage.',
  scope: 'account',
  item: usageSchema,
  filter: usageFilter,
  limit: { default: 100, max: 1000 },
  cursor: z
    .string()
    .max(400)
    .refine((text) => parseCursor(text) !== null, 'is not a cursor of this call'),
  async read(input, { before, limit }) {
    const { key, query } = input;
    const range = usageRange(key.accountId, query);
    // Calls and batches of test keys move no credits.
    if (key.mode === 'test') return [];
    const after = before === null ? null : parseCursor(before);
    return readInTurn(input, (tx) => listUsage(tx, { ...range, after, limit }));
  },
  cursorOf,
  view: ({ batchId, keyId, amount, ...row }) => ({
    ...row,
    key_id: keyId,
    batch_id: batchId,
    credits: amount,
  }),
});

function cursorOf({ day: on, kind, operation, keyId, batchId }: UsageRow): string {
  const place: UsagePlace = [on, kind, operation ?? '', keyId ?? '', batchId ?? ''];
  return Buffer.from(place.join('|')).toString('base64url');
}

function parseCursor(text: string): UsagePlace | null {
  const parts = Buffer.from(text, 'base64url').toString('utf8').split('|');
  const [on, kind, operation, key, batch] = parts;
  if (parts.length !== 5 || !day.safeParse(on).success || text.includes('\0')) return null;
  if (!/^[\w.-]*$/.test(`${kind}${operation}`)) return null;
  if (![key, batch].every((id) => id === '' || z.guid().safeParse(id).success)) return null;
  return [on ?? '', kind ?? '', operation ?? '', key ?? '', batch ?? ''];
}
