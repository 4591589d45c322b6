import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { z } from 'zod';
import {
  type LedgerLine,
  type LedgerPlace,
  type LedgerRange,
  ledgerKinds,
  listLedgerLines,
} from '../../core/credits/credits.sql.ts';
import { definePage } from '../http/define-page.ts';
import { defineRoute, type RouteInput, sent } from '../http/define-route.ts';
import { holdDownload } from '../http/open-responses.ts';
import { sendWhileValid } from '../http/while-valid.ts';
import { readInTurn } from '../read-in-turn.ts';
import { day, usageFilter, usageRange } from '../usage-range.ts';

const lineSchema = z.strictObject({
  created_at: z.string(),
  kind: z.enum(ledgerKinds),
  operation: z.string().nullable(),
  credits: z.number().int(),
  units: z.number().int().nullable(),
  key_id: z.string().nullable(),
  batch_id: z.string().nullable(),
  reference: z.string(),
});

/** Lines that one statement reads for a file. */
const PAGE_LINES = 1_000;
/** An operator chooses how long a reference is. */
const CURSOR_MAX = 4_000;

/** Lists the lines of the ledger, latest first. */
export const getLedgerRoute = definePage({
  path: '/v1/usage/lines',
  summary: 'Ledger lines with their references',
  description: 'A page of ledger lines.',
  scope: 'account',
  item: lineSchema,
  filter: usageFilter,
  limit: { default: 100, max: PAGE_LINES },
  cursor: z.string().max(CURSOR_MAX).refine(isCursor, 'is not a cursor of this call'),
  read: (input, { before, limit }) => {
    const range = usageRange(input.key.accountId, input.query);
    return readLines(input, range, before === null ? null : parseCursor(before), limit);
  },
  cursorOf: ({ at, reference }) => Buffer.from(`${at}|${reference}`).toString('base64url'),
  view: viewLine,
});

/** Sends the lines of the ledger as a CSV file, latest first. */
export const getLedgerFileRoute = defineRoute({
  method: 'get',
  path: '/v1/usage/lines.csv',
  summary: 'Ledger lines as a CSV file',
  scope: 'account',
  query: z.strictObject(usageFilter),
  responses: { 200: { description: 'The lines, latest first.', types: ['text/csv'] } },
  async handler(input) {
    const { context, key, credentials, query, response } = input;
    const range = usageRange(key.accountId, query);
    holdDownload(key.accountId, response);
    const columns = Object.keys(lineSchema.shape);
    // An error of either stream ends both, and so does a disconnected reader.
    const file = pipeline(
      Readable.from(allLines(input, range)),
      stringify({ header: true, columns }),
      () => {},
    );
    response.attachment(`credits ${range.from} to ${range.to}.csv`);
    response.setHeader('Content-Type', 'text/csv; charset=utf-8');
    await sendWhileValid(context, credentials, file, response);
    return sent;
  },
});

async function* allLines(input: RouteInput, range: LedgerRange) {
  let after: LedgerPlace | null = null;
  for (;;) {
    const lines: LedgerLine[] = await readLines(input, range, after, PAGE_LINES);
    yield* lines.map(viewLine);
    const last = lines.at(-1);
    if (last === undefined || lines.length < PAGE_LINES) return;
    after = [last.at, last.reference];
  }
}

async function readLines(
  input: Pick<RouteInput, 'context' | 'key' | 'response'>,
  range: LedgerRange,
  after: LedgerPlace | null,
  limit: number,
): Promise<LedgerLine[]> {
  // Calls and batches of test keys move no credits.
  if (input.key.mode === 'test') return [];
  return readInTurn(input, (tx) => listLedgerLines(tx, { ...range, after, limit }));
}

function viewLine(line: LedgerLine): z.output<typeof lineSchema> {
  return {
    created_at: line.createdAt.toISOString(),
    kind: line.kind,
    operation: line.operation,
    credits: line.amount,
    units: line.units,
    key_id: line.keyId,
    batch_id: line.batchId,
    reference: line.reference,
  };
}

/** A time of the clock with its offset, as Postgres writes and reads it. */
const CLOCK_TIME = /^ ([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,6})?[+-](0\d|1[0-5])(:[0-5]\d)?$/;
const DAY_LENGTH = 10;

function isCursor(text: string): boolean {
  const [at, reference] = parseCursor(text);
  const isDay = day.safeParse(at.slice(0, DAY_LENGTH)).success;
  return isDay && CLOCK_TIME.test(at.slice(DAY_LENGTH)) && !reference.includes('\0');
}

function parseCursor(text: string): LedgerPlace {
  const [at = '', ...reference] = Buffer.from(text, 'base64url').toString('utf8').split('|');
  return [at, reference.join('|')];
}
