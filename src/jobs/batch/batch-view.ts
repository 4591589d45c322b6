/** The JSON of a batch in the API and the command line. */
import { z } from 'zod';
import { discloseAgreement } from '../../core/enrich/free-outcomes.ts';
import { outputColumns } from '../../core/enrich/match-data.ts';
import { matchModes } from '../../core/enrich/match-mode.ts';
import { outcomeStatuses } from '../../core/enrich/outcomes.ts';
import { priceOf } from '../../core/operations.ts';
import {
  type DisclosedTotal,
  discloseTotal,
  mostOf,
  totalIsSchema,
} from '../../core/search/free-responses.ts';
import type { Batch, BatchKind, ExportBatch, ListBatch } from './batch.ts';
import type { PartReport } from './report.ts';
import { batchReasons } from './states.ts';

const integer = z.number().int();
const text = z.string();
const time = z.iso.datetime();
const amount = integer.nullable();

const counts = ['processed', ...outcomeStatuses] as const;

const progressShape = {
  rows: z.strictObject({
    total: amount,
    ...(Object.fromEntries(counts.map((name) => [name, integer])) as Record<
      (typeof counts)[number],
      typeof integer
    >),
  }),
  owned: integer.meta({
    description:
      'Of the matched rows, those that cost nothing because the account had paid for the person in its last `owned_days`.',
  }),
  credits: z.strictObject({ charged: integer, reserved: integer, max: amount }),
  rows_per_second: amount.meta({
    description:
      'While it runs, of the last half minute of work; afterwards, of all the time in which it ran, without pauses.',
  }),
  eta_seconds: amount.meta({
    description:
      'Seconds until its end at that pace, or at the rows per minute of its key when they hold it back.',
  }),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  files_deleted_at: time.nullable(),
  links: z.record(text, text),
};

const stateShape = {
  id: z.uuid(),
  revision: integer.meta({
    description:
      'Raised by every change. Of two responses or events, the one with the higher revision is the newer one.',
  }),
  name: text,
  live: z.boolean(),
  state: text,
  reason: z
    .enum([...batchReasons, 'rows_per_minute'])
    .nullable()
    .meta({
      description:
        'Why it is paused. After `insufficient_credits` and `key_budget` it resumes automatically when credits are available again, after `max_credits` (lists only) when its limit is raised, after `user` only when it is resumed. `expired`: it was held or paused for too long and was cancelled. `rows_per_minute`: it is queued or running, and its key has used up its rows of the minute.',
    }),
  error: z.record(text, z.unknown()).nullable(),
  operation: text,
};

const quoteSchema = z.strictObject({
  state: z.enum(['running', 'done']),
  asked_at: text,
  rows: z
    .record(text, integer)
    .meta({ description: 'Rows of each outcome; `invalid` alone where fewer than ten match.' })
    .optional(),
  owned: integer
    .meta({
      description:
        'Of the matched rows, those that cost nothing because the account has paid for the person in its last `owned_days`; 0 where fewer than ten match.',
    })
    .optional(),
  credits: integer
    .meta({ description: 'The price of the whole list; `max_credits` does not lower it.' })
    .optional(),
  credits_is: z
    .enum(['exact', 'at_most'])
    .meta({ description: '`at_most` where fewer than ten rows match, perhaps none.' })
    .optional(),
  affordable: z.boolean().optional(),
});

const dialectSchema = z.strictObject({
  encoding: text,
  delimiter: text,
  newline: text,
  header_row: integer.meta({
    description: 'The row of the header, from 1 as a spreadsheet counts; 0 without one.',
  }),
  titles: z.array(text).meta({
    description:
      'The texts of the rows above the header. They are not rows of the list, nor of its result.',
  }),
  header: z.array(text).nullable().meta({
    description:
      'Null without a header. Header, titles and sheets of more than 2,000 bytes are left out of pages, and deleted with the files; a `mapping` as long is then empty.',
  }),
  sheet: text.nullable().meta({ description: 'The sheet that was read, for a workbook.' }),
  sheets: z.array(text).meta({ description: 'All visible sheets of the workbook.' }),
  doubts: z.array(z.enum(['encoding', 'delimiter', 'header', 'sheet', 'names'])).meta({
    description:
      'Guesses to check in the preview. `names`: in most of the first rows the columns of given and family name hold each other’s names.',
  }),
});

/** The JSON of a list. */
export const batchSchema = z
  .looseObject({
    ...stateShape,
    mapping: z.record(text, z.unknown()),
    key_id: z.uuid().meta({ description: 'The key that created it, also through a session.' }),
    rerun_of: z.uuid().nullable().meta({
      description: 'The list whose rows this one reruns, with their row numbers.',
    }),
    dialect: dialectSchema,
    match: z.enum(matchModes).meta({ description: 'How rows are matched.' }),
    min_probability: z.number().meta({ description: 'The probability that a likely match needs.' }),
    not_as_xlsx: text.nullable().meta({
      description:
        'Why the result cannot be downloaded as a workbook, as far as the uploaded rows show. CSV and JSON lines hold everything.',
    }),
    quote: quoteSchema.nullable(),
    ...progressShape,
  })
  .meta({ id: 'Batch' });

/** The JSON of an export. */
export const exportSchema = z
  .strictObject({
    ...stateShape,
    filter: text.nullable().meta({
      description: `Null where it is longer than 2,000 bytes: in a page, and when the files are deleted.`,
    }),
    fields: z.array(text).nullable(),
    format: text,
    gzip: z.boolean(),
    max_results: amount,
    schedule_id: z.uuid().nullable(),
    total_is: totalIsSchema.nullable().meta({
      description:
        'How to read `rows.total` and `estimated_credits`: `exact` from the first charged person on, and at the end for a file of people who cost nothing. Null as long as those two are null: before the people are recorded, and for a filter that identifies people, until then.',
    }),
    estimated_owned: amount.meta({
      description:
        'How many of the people the account had paid for in its last `owned_days` when they were recorded: they cost nothing.',
    }),
    estimated_credits: amount,
    ...progressShape,
  })
  .meta({ id: 'Export' });

export type BatchView = z.output<typeof batchSchema>;
export type ExportView = z.output<typeof exportSchema>;

/** The JSON of a report; docs/api.md lists its members. */
export const reportSchema = z.record(text, z.unknown());

/** The dialect of a list, detected or given. */
export function viewDialect({ dialect }: Batch) {
  return {
    encoding: dialect.encoding,
    delimiter: dialect.delimiter,
    newline: dialect.newline,
    header_row: dialect.headerRow,
    titles: dialect.titles,
    header: dialect.header,
    sheet: dialect.sheet,
    sheets: dialect.sheets,
    /** Guesses to check in the preview. */
    doubts: dialect.doubts,
  };
}

/** True for a queued or running batch that its key's rows per minute hold back. */
function waitsForKey({ state, waitsFor }: Batch): boolean {
  return waitsFor === 'key' && (state === 'queued' || state === 'running');
}

/** The time that these rows take at the limit of the key. */
function secondsByLimit(rows: number | null, rowsPerMinute: number | null): number | null {
  return rows === null || rowsPerMinute === null ? null : Math.ceil((rows / rowsPerMinute) * 60);
}

/**
 * Rows per second: of a running batch those of the last half minute of work, of one that has ended those of all the time
 * in which it ran. Null while it waits or is paused.
 */
function paceOf(batch: Batch, looked: number, now: Date): number | null {
  const { state, pacedSince, pacedRows, ranSeconds, finishedAt } = batch;
  if (finishedAt !== null) return ranSeconds > 0 ? looked / ranSeconds : null;
  if (state !== 'running' || pacedSince === null) return null;
  const seconds = (now.getTime() - pacedSince.getTime()) / 1000;
  return seconds > 0 ? pacedRows / seconds : null;
}

/** Counts, credits and times, the same for lists and exports. */
function viewProgress(batch: Batch, now: Date) {
  const processed =
    batch.matched +
    batch.noMatch +
    batch.ambiguous +
    batch.invalid +
    batch.suppressed +
    batch.duplicate +
    batch.errorRows +
    batch.notProcessed;
  const rate = paceOf(batch, processed - batch.notProcessed, now);
  const left = batch.rowsTotal === null ? null : batch.rowsTotal - processed;
  const waiting = waitsForKey(batch) ? secondsByLimit(left, batch.keyRowsPerMinute) : null;
  const moving = batch.state === 'running' && rate !== null && rate > 0 && left !== null;
  const self = `${pathOf[batch.kind]}/${batch.id}`;
  return {
    rows: {
      total: batch.rowsTotal,
      processed,
      matched: batch.matched,
      no_match: batch.noMatch,
      ambiguous: batch.ambiguous,
      invalid: batch.invalid,
      suppressed: batch.suppressed,
      duplicate: batch.duplicate,
      error: batch.errorRows,
      not_processed: batch.notProcessed,
    },
    owned: batch.owned,
    credits: {
      charged: batch.creditsCharged,
      reserved: batch.creditsReserved,
      max: batch.maxCredits,
    },
    rows_per_second: rate === null ? null : Math.round(rate),
    eta_seconds: waiting ?? (moving ? Math.ceil(left / rate) : null),
    created_at: batch.createdAt.toISOString(),
    started_at: batch.startedAt?.toISOString() ?? null,
    finished_at: batch.finishedAt?.toISOString() ?? null,
    /** When the files were deleted. Counts and charges stay. */
    files_deleted_at: batch.filesDeletedAt?.toISOString() ?? null,
    links: { self, results: `${self}/results` },
  };
}

/** The API path of each kind. */
const pathOf: Record<BatchKind, string> = { list: '/v1/batches', export: '/v1/exports' };

/** The members with which the JSON of a list and that of an export begin. */
function viewState(batch: Batch): Pick<ExportView, keyof typeof stateShape> {
  return {
    id: batch.id,
    revision: batch.revision,
    name: batch.name,
    live: batch.live,
    state: batch.state,
    reason: batch.reason ?? (waitsForKey(batch) ? 'rows_per_minute' : null),
    error: batch.error,
    operation: batch.operation,
  };
}

function viewList(batch: ListBatch, now: Date): BatchView {
  return {
    ...viewState(batch),
    mapping: batch.mapping,
    dialect: viewDialect(batch),
    default_region: batch.defaultRegion,
    country: batch.country,
    key_id: batch.keyId,
    rerun_of: batch.rerunOf,
    dedupe: batch.dedupe,
    match: batch.match,
    min_probability: batch.minProbability,
    require_agreement: batch.requireAgreement,
    required: batch.required,
    fields: batch.fields,
    /** Why its result cannot be downloaded as a workbook, as far as its own rows show. */
    not_as_xlsx: batch.notAsXlsx,
    quote: batch.quote,
    ...viewProgress(batch, now),
  };
}

/**
 * The JSON of an export: `matched` people are delivered, `no_match` were deleted since it began. Until a person
 * is charged, or delivered in test mode, its counts are rounded like those of a preview.
 */
function viewExport(batch: ExportBatch, now: Date): ExportView {
  const price = batch.live ? priceOf(batch.operation) : 0;
  const progress = viewProgress(batch, now);
  const total = viewTotal(batch);
  const counted = isCharged(batch) ? progress : uncharged(batch, progress);
  return {
    ...viewState(batch),
    filter: batch.filter,
    fields: batch.fields,
    format: batch.format,
    gzip: batch.gzip,
    max_results: batch.maxResults,
    schedule_id: batch.scheduleId,
    total_is: total?.total_is ?? null,
    /** Once the ids are written: the cost if no further person drops out. */
    estimated_owned: total === null ? null : batch.ownedFound,
    estimated_credits: total === null ? null : Math.max(0, total.total - batch.ownedFound) * price,
    ...counted,
    rows: { ...counted.rows, total: total?.total ?? null },
  };
}

/** True for an export whose counts may be disclosed: it has charged for someone, or delivered someone in test mode. */
function isCharged({ matched, owned }: ExportBatch): boolean {
  return matched > owned;
}

/** The people of a completed export that delivered only people whom its account owned; otherwise 0. */
function ownedAlone({ state, matched, owned }: ExportBatch): number {
  return state === 'completed' && matched === owned ? owned : 0;
}

/**
 * The progress of an export that has charged for no one, without counts that would reveal how many people match. At its end they
 * are those of the file: the same whether or not someone was left out, as by the do-not-contact list.
 */
function uncharged(batch: ExportBatch, progress: ReturnType<typeof viewProgress>) {
  const owned = ownedAlone(batch);
  const none = Object.fromEntries(counts.map((name) => [name, 0])) as typeof progress.rows;
  return {
    ...progress,
    rows: { ...none, processed: owned, matched: owned },
    owned,
    credits: { ...progress.credits, reserved: 0 },
    rows_per_second: null,
    eta_seconds: null,
  };
}

/** Null before the ids are written; for a filter that names people until one is charged, or its file has owned people alone. */
function viewTotal(batch: ExportBatch): DisclosedTotal | null {
  const { rowsTotal, namesPeople } = batch;
  if (rowsTotal === null) return null;
  if (isCharged(batch)) return { total: rowsTotal, total_is: 'exact' };
  const owned = ownedAlone(batch);
  if (owned > 0) return { total: owned, total_is: 'exact' };
  return namesPeople ? null : discloseTotal(rowsTotal);
}

/**
 * Returns the most credits that an export costs by what was told of it; null when the account owned no one of it. Its people
 * are fixed, but not for how long they are owned.
 */
export function promisedCredits(batch: Batch): number | null {
  if (batch.kind !== 'export' || !batch.live || batch.ownedFound === 0) return null;
  const told = viewTotal(batch);
  // No limit is below one match.
  return told && Math.max(1, mostOf(told) - batch.ownedFound) * priceOf(batch.operation);
}

/** The JSON of a list or an export. */
export function viewBatch(batch: ListBatch, now?: Date): BatchView;
export function viewBatch(batch: ExportBatch, now?: Date): ExportView;
export function viewBatch(batch: Batch, now?: Date): BatchView | ExportView;
export function viewBatch(batch: Batch, now = new Date()): BatchView | ExportView {
  return batch.kind === 'export' ? viewExport(batch, now) : viewList(batch, now);
}

/** The JSON of a batch's report. */
export function viewReport(batch: Batch, sum: PartReport) {
  const columns = outputColumns(batch.operation, batch.fields);
  const share = (count: number) =>
    batch.matched === 0 ? 0 : Math.round((count / batch.matched) * 10_000) / 10_000;
  const fillRate = Object.fromEntries(
    columns.map(({ header }, index) => [header, share(sum.filled[index] ?? 0)]),
  );
  if (batch.kind === 'export')
    return { rows: viewTotal(batch)?.total ?? null, fill_rate: fillRate };
  return {
    dialect: viewDialect(batch),
    mapping: batch.mapping,
    rows: batch.rowsTotal,
    blank_lines: batch.blankLines,
    padded_rows: sum.paddedRows,
    rows_read_as_windows_1252: sum.decodedRows,
    repaired: sum.repaired,
    unusable: sum.unusable,
    agrees: batch.requireAgreement ? discloseAgreement(sum.agrees, batch) : sum.agrees,
    matched_by: sum.matchedBy ?? {},
    fill_rate: fillRate,
  };
}
