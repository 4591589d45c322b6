/** The interface of a batch to the import loop, for every entity. */
import type { Sql } from '../../db/client.ts';
import type { KeysToWrite } from '../keys-to-write.ts';
import { countryOfId } from '../vocabulary/derived-ids.ts';
import type { DroppedValues, Problem } from './columns.ts';
import type { JsonRecord, RecordSource, SourceRecord } from './read-records.ts';

export interface BatchRow {
  line: number;
  source: RecordSource;
}

export interface MergeResult {
  inserted: number;
  updated: number;
  /** Rows that only the stored data shows to be unusable. */
  rejected: readonly { row: BatchRow; problem: Problem }[];
}

/** Records of one transaction. A record with an existing key replaces the earlier one. */
export interface Batch<Row extends BatchRow> {
  /** Adds a record, or returns why it is rejected. */
  add(item: SourceRecord): Problem | null;
  rows(): Row[];
  /** Merges rows of this batch inside the caller's transaction. */
  merge(tx: Sql, rows: readonly Row[]): Promise<MergeResult>;
}

/** Data that all batches of one import share. */
export interface ImportContext {
  /** The time of the import, `2024-01-31T12:00:00` in UTC. */
  importedAt: string;
  /** ISO alpha-2 codes by country id, as of the beginning of the import. */
  countryCodes: ReadonlyMap<number, string>;
  dropped: DroppedValues;
  /** Takes the name keys of new companies; null to write them with their batch. */
  companyKeys: KeysToWrite | null;
}

/** An entity that can be imported. */
export interface Importer<Row extends BatchRow> {
  knownFields: ReadonlySet<string>;
  createBatch(context: ImportContext): Batch<Row>;
}

/** Returns the region of a record's phones: the code of its country, if known. */
export function regionOf(record: JsonRecord, context: ImportContext): string | undefined {
  const { countryId } = record;
  if (countryId === undefined) return undefined;
  return countryOfId(Number(countryId)) ?? context.countryCodes.get(Number(countryId));
}
