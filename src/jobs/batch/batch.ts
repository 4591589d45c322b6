/** A batch: an uploaded list or an export. */

import type { DisclosedQuote } from '../../core/enrich/free-outcomes.ts';
import type { MatchMode } from '../../core/enrich/match-mode.ts';
import type { OperationName, PricedOperation, personSearch } from '../../core/operations.ts';
import type { Dialect } from '../../formats/csv/dialect.ts';
import type { ColumnMapping } from '../../mapping/columns.ts';
import type { PartReport } from './report.ts';
import type { BatchReason, BatchState } from './states.ts';

export const resultFormats = ['csv', 'csv-safe', 'jsonl', 'xlsx'] as const;
export type ResultFormat = (typeof resultFormats)[number];

/** A workbook of several sheets that is kept, so that another sheet can be read. */
export interface StoredWorkbook {
  key: string;
  bytes: number;
  crc32: number;
}

/** The dialect of the upload, determined before the batch is accepted. */
export interface StoredDialect
  extends Pick<
    Dialect,
    | 'encoding'
    | 'encodingIsGuess'
    | 'bom'
    | 'delimiter'
    | 'newline'
    | 'headerRow'
    | 'titles'
    | 'header'
    | 'headerText'
  > {
  /** Guesses that a person should check. */
  doubts: ('encoding' | 'delimiter' | 'header' | 'sheet' | 'names')[];
  /** Offset of the first data record in the canonical bytes (UTF-8, no byte order mark). */
  firstByte: number;
  firstLine: number;
  /** The sheet of the workbook that was read, and all visible ones; null and none for a CSV file. */
  sheet: string | null;
  sheets: string[];
  /** Null when there is no other sheet to read. */
  workbook: StoredWorkbook | null;
}

/** The price of a batch, ignoring its own limit, from a match pass that charged nothing. */
export interface Quote extends Partial<DisclosedQuote> {
  state: 'running' | 'done';
  /** When it was requested: a quote from before a change of the batch is discarded. */
  asked_at: string;
  /** True if the wallet could pay `credits` when the quote was computed. */
  affordable?: boolean;
}

/** Fields common to lists and exports. */
interface AnyBatch {
  id: string;
  accountId: string;
  /** The key whose limits it counts towards. */
  keyId: string;
  live: boolean;
  name: string;
  state: BatchState;
  reason: BatchReason | null;
  error: Record<string, unknown> | null;
  operation: PricedOperation;
  mapping: ColumnMapping;
  dialect: StoredDialect;
  fields: string[] | null;
  defaultRegion: string | null;
  country: string | null;
  maxCredits: number | null;
  hold: boolean;
  dedupe: boolean;
  /** How rows are matched, and the probability that a likely match needs. */
  match: MatchMode;
  minProbability: number;
  requireAgreement: boolean;
  /** Fields without which a record does not match a row; null for none, and for exports. */
  required: string[] | null;
  rerunOf: string | null;
  quote: Quote | null;
  report: PartReport | null;
  /** The object that workers read; null until the split. */
  canonicalKey: string | null;
  /** Its size and checksum as written; null until the split. */
  canonicalBytes: number | null;
  canonicalCrc32: number | null;
  width: number | null;
  /** Why the result does not fit into a workbook, as far as the list's own rows show; null if unknown. */
  notAsXlsx: string | null;
  /** Why none of its chunks may be claimed now: `key` has used up its rows of the minute; null when they may. */
  waitsFor: 'time' | 'key' | null;
  /** Rows per minute of its key; null without a limit. */
  keyRowsPerMinute: number | null;
  chunksTotal: number | null;
  chunksDone: number;
  rowsTotal: number | null;
  blankLines: number | null;
  matched: number;
  noMatch: number;
  ambiguous: number;
  invalid: number;
  suppressed: number;
  duplicate: number;
  errorRows: number;
  notProcessed: number;
  /** Of the matched rows, those that cost nothing because the account owned the person. */
  owned: number;
  creditsCharged: number;
  creditsReserved: number;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  filesDeletedAt: Date | null;
  /** Rows of its parts since a time, of about the last half minute of running; null before it runs. */
  pacedSince: Date | null;
  pacedRows: number;
  /** Seconds for which it ran, until it was last paused or ended. */
  ranSeconds: number;
  /** Number of its last change that its JSON shows; a trigger raises it. */
  revision: number;
}

/** An uploaded list. */
export interface ListBatch extends AnyBatch {
  kind: 'list';
  operation: OperationName;
  uploadKey: string;
  uploadBytes: number;
  uploadCrc32: number;
  uploadHeadCrc32: number;
}

/** The people who match a filter; its rows are their ids, in order. */
export interface ExportBatch extends AnyBatch {
  kind: 'export';
  uploadKey: null;
  operation: typeof personSearch.name;
  /** The search as sent, a query string; a long one is null in a page and after the deletion of the files. */
  filter: string | null;
  /** The filter names people: the total is not shown for free. */
  namesPeople: boolean;
  /** The default format of downloads. */
  format: ResultFormat;
  gzip: boolean;
  maxResults: number | null;
  /** The schedule that started it. */
  scheduleId: string | null;
  /** Excludes people whom that schedule has already delivered. */
  onlyNew: boolean;
  /** How many of its people the account owned when their ids were written. */
  ownedFound: number;
}

export type Batch = ListBatch | ExportBatch;
export type BatchKind = Batch['kind'];
export type BatchOf<Kind extends BatchKind> = Extract<Batch, { kind: Kind }>;

/** The options that the caller of a list gives, which a rerun copies and a held list may change. */
const listOptionNames = [
  'fields',
  'defaultRegion',
  'country',
  'maxCredits',
  'dedupe',
  'match',
  'minProbability',
  'requireAgreement',
  'required',
] as const satisfies (keyof ListBatch)[];
export type ListOptions = Pick<ListBatch, (typeof listOptionNames)[number]>;

export function optionsOf(list: ListOptions): ListOptions {
  return Object.fromEntries(listOptionNames.map((name) => [name, list[name]])) as ListOptions;
}

type StoredField = Exclude<keyof ListBatch | keyof ExportBatch, 'keyRowsPerMinute'>;

const otherFields: Record<Exclude<StoredField, keyof ListOptions>, true> = {
  id: true,
  accountId: true,
  keyId: true,
  live: true,
  name: true,
  kind: true,
  state: true,
  reason: true,
  error: true,
  operation: true,
  mapping: true,
  dialect: true,
  hold: true,
  rerunOf: true,
  quote: true,
  report: true,
  uploadKey: true,
  uploadBytes: true,
  uploadCrc32: true,
  uploadHeadCrc32: true,
  canonicalKey: true,
  canonicalBytes: true,
  canonicalCrc32: true,
  width: true,
  notAsXlsx: true,
  waitsFor: true,
  chunksTotal: true,
  chunksDone: true,
  rowsTotal: true,
  blankLines: true,
  matched: true,
  noMatch: true,
  ambiguous: true,
  invalid: true,
  suppressed: true,
  duplicate: true,
  errorRows: true,
  notProcessed: true,
  owned: true,
  creditsCharged: true,
  creditsReserved: true,
  createdAt: true,
  startedAt: true,
  finishedAt: true,
  filesDeletedAt: true,
  pacedSince: true,
  pacedRows: true,
  ranSeconds: true,
  revision: true,
  filter: true,
  namesPeople: true,
  format: true,
  gzip: true,
  maxResults: true,
  scheduleId: true,
  onlyNew: true,
  ownedFound: true,
};

/** The fields of a batch that are columns of its row, by which they are named. */
export const storedFields: readonly string[] = [...listOptionNames, ...Object.keys(otherFields)];

/** The name of a kind at the start of a message. */
export function titleOf(kind: BatchKind): string {
  return kind === 'export' ? 'Export' : 'Batch';
}
