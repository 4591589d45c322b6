/** A batch: an uploaded list or an export. */
import type { Sql } from '../../core/db/client.ts';
import type { DisclosedQuote } from '../../core/free-responses/free-responses.ts';
import type { OperationName, PricedOperation, personSearch } from '../../core/operations.ts';
import type { Delimiter } from '../../formats/csv/record-table.ts';
import type { Newline } from '../../formats/csv/split.ts';
import type { ColumnMapping } from '../mapping/columns.ts';
import type { PartReport } from './report.ts';
import type { ResultFormat } from './result-format.ts';
import type { BatchReason, BatchState } from './states.ts';

/** How the upload is written; found before the batch is accepted. */
export interface StoredDialect {
  encoding: string;
  /** True when nothing in the bytes proves the encoding. */
  encodingIsGuess: boolean;
  /** Bytes of the upload's byte order mark. */
  bom: number;
  delimiter: Delimiter;
  newline: Newline;
  /** Names of the header's columns, or null for a file without a header. */
  header: string[] | null;
  /** The header's own text, as it is given back; null without a header. */
  headerText: string | null;
  /** Guesses that a person should look at. */
  doubts: ('encoding' | 'delimiter' | 'header')[];
  /** Where the first data record begins in the canonical bytes (UTF-8, no mark). */
  firstByte: number;
  firstLine: number;
}

/** The price of a batch without its own limit, from a match pass that charged nothing. */
export interface Quote extends Partial<DisclosedQuote> {
  state: 'running' | 'done';
  /** When it was asked for: a quote for what the batch was before a change is not kept. */
  asked_at: string;
  /** Whether the wallet could pay `credits` when the quote was done. */
  affordable?: boolean;
}

/** What lists and exports have in common. */
interface AnyBatch {
  id: string;
  accountId: string;
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
  requireAgreement: boolean;
  rerunOf: string | null;
  quote: Quote | null;
  report: PartReport | null;
  /** The object that workers read; null until the split. */
  canonicalKey: string | null;
  /** What it held when it was written; null as well for a split of a version that recorded none. */
  canonicalBytes: number | null;
  canonicalCrc32: number | null;
  width: number | null;
  /** Why no workbook can hold the result, as far as the list's own rows tell; null for nothing known. */
  notAsXlsx: string | null;
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
  creditsCharged: number;
  creditsReserved: number;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  filesDeletedAt: Date | null;
}

/** An uploaded list. */
export interface ListBatch extends AnyBatch {
  kind: 'list';
  operation: OperationName;
  uploadKey: string;
  uploadBytes: number;
  /** Null for an upload of a version that recorded no checksums. */
  uploadCrc32: number | null;
  uploadHeadCrc32: number | null;
}

/** The people that a filter means; its rows are their ids, in order. */
export interface ExportBatch extends AnyBatch {
  kind: 'export';
  operation: typeof personSearch.name;
  /** The search as it was sent, a query string. */
  filter: string;
  /** How its results are given back unless a download says otherwise. */
  format: ResultFormat;
  gzip: boolean;
  maxResults: number | null;
  /** The schedule whose run it is. */
  scheduleId: string | null;
  /** Leaves out whom that schedule has delivered before. */
  onlyNew: boolean;
}

export type Batch = ListBatch | ExportBatch;
export type BatchKind = Batch['kind'];
export type BatchOf<Kind extends BatchKind> = Extract<Batch, { kind: Kind }>;

/** What the caller adds to the transaction that records a batch. */
export type BeforeCommit = (tx: Sql, batch: Batch) => Promise<void>;
