/** What the import loop knows about a batch, whatever the entity. */
import type { Sql } from '../../db/client.ts';
import type { DroppedValues, Problem } from './columns.ts';
import type { JsonRecord, RecordSource, SourceRecord } from './read-records.ts';

export interface BatchRow {
  line: number;
  source: RecordSource;
}

export interface MergeResult {
  inserted: number;
  updated: number;
  /** Rows that turned out to be unusable only against the stored data. */
  rejected: readonly { row: BatchRow; problem: Problem }[];
}

/** Records of one transaction. A record whose key is there already takes its place. */
export interface Batch<Row extends BatchRow> {
  /** Adds a record, or says why it is rejected. */
  add(item: SourceRecord): Problem | null;
  rows(): Row[];
  /** Merges rows of this batch inside the caller's transaction. */
  merge(tx: Sql, rows: readonly Row[]): Promise<MergeResult>;
}

/** What all batches of one import share. */
export interface ImportContext {
  /** The time of the import, `2024-01-31T12:00:00` in UTC. */
  importedAt: string;
  /** ISO alpha-2 codes by country id, as they were when the import began. */
  countryCodes: ReadonlyMap<number, string>;
  dropped: DroppedValues;
}

/** An entity that can be imported. */
export interface Importer<Row extends BatchRow> {
  knownFields: ReadonlySet<string>;
  createBatch(context: ImportContext): Batch<Row>;
}

/** The region of a record's phones: the code of its country, where that is known. */
export function regionOf(record: JsonRecord, context: ImportContext): string | undefined {
  const { countryId } = record;
  return countryId === undefined ? undefined : context.countryCodes.get(Number(countryId));
}
