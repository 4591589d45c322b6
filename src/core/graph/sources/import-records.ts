/**
 * Imports a file into the graph: records are streamed, checked one by one, and merged in transactions of 50,000.
 * While the database merges one batch the next one is read.
 */
import type { Readable, Writable } from 'node:stream';
import postgres from 'postgres';
import type { Database, Sql } from '../../db/client.ts';
import type { Batch, BatchRow, ImportContext, Importer, MergeResult } from '../import/batch.ts';
import type { DroppedValues, Problem } from '../import/columns.ts';
import { financialImporter, officerImporter } from '../import/fact-batch.ts';
import { selectCountryCodes } from '../import/import-records.sql.ts';
import type { RecordFormat } from '../import/open-records.ts';
import {
  type JsonRecord,
  type RecordSource,
  readRecords,
  type SourceItem,
} from '../import/read-records.ts';
import { companyImporter, personImporter } from '../import/record-batch.ts';
import { referenceImporter } from '../import/reference-batch.ts';
import { writeReject } from '../import/write-reject.ts';
import { refreshLookupTitles } from '../lookup-values.sql.ts';
import { refreshNameCounts } from '../name-keys.sql.ts';
import { writeGraph } from '../write-graph.ts';
import { buildQueued } from './build.ts';
import { assertStillLocked } from './identify.sql.ts';
import { withImportLock } from './import-source.ts';
import { hasSources } from './settle.sql.ts';
import { followOwnRecords } from './settle.ts';

const importers = {
  persons: personImporter,
  companies: companyImporter,
  officers: officerImporter,
  financials: financialImporter,
  cities: referenceImporter('cities'),
  regions: referenceImporter('regions'),
  countries: referenceImporter('countries'),
  industries: referenceImporter('industries'),
  positions: referenceImporter('positions'),
};

export type ImportEntity = keyof typeof importers;

/** The entities whose import changes which job titles people have. */
const titledEntities: ReadonlySet<ImportEntity> = new Set<ImportEntity>(['persons', 'positions']);
const namedEntities: ReadonlySet<ImportEntity> = new Set<ImportEntity>(['persons', 'companies']);

/** The entities that records of sources can be the same as. */
const subjectOf: Partial<Record<ImportEntity, 'company' | 'person'>> = {
  persons: 'person',
  companies: 'company',
};

/** The names of the entities that can be imported. */
export const importEntities = Object.keys(importers) as readonly ImportEntity[];

export interface ImportOptions {
  entity: ImportEntity;
  /** Unzipped bytes from the beginning; see `openRecords`. */
  input: Readable;
  format: RecordFormat;
  /**
   * Receives a JSON line `{line, reason, field, record}` for each rejected record; is not ended.
   */
  rejects: Writable;
  /** Called after each transaction. */
  onProgress?: (counts: ImportCounts) => void;
  /** The time for records without one; now by default. */
  importedAt?: Date;
}

export interface ImportCounts {
  /** Records of the file, without blank lines. */
  read: number;
  inserted: number;
  updated: number;
  /** Equal to the stored record, or superseded by a later record with the same id. */
  unchanged: number;
  rejected: number;
}

export interface ImportReport extends ImportCounts {
  /** Number of occurrences of each unknown field. */
  unknownFields: Record<string, number>;
  /** Number of omitted values by field, because they are not valid (a phone number). */
  droppedValues: DroppedValues;
  seconds: number;
}

const BATCH_RECORDS_MAX = 50_000;
/** Long records make smaller transactions: two batches of them are in memory. */
const BATCH_BYTES_MAX = 96 * 1024 * 1024;
/** Maximum number of records that only the database refuses; more of them indicate another problem. */
const REFUSED_BY_DATABASE_MAX = 100;

/**
 * Imports a stream of records. A record completely replaces the stored one with its id: missing fields become
 * absent, and its identifiers become those of the new record. `createdAt` and `whenUpdated` are taken when given;
 * otherwise `createdAt` is kept, and `whenUpdated` becomes the time of the import if a field of the record
 * changed. Importing the same file twice changes nothing.
 *
 * Bad records go to `rejects`, and the import continues. Throws `AppError` `unreadable_csv` for a file that is not
 * CSV, 409 `import_running` for people and companies while a source is imported, and errors of the input or the database, as when
 * the connection with the lock ends; committed transactions stay, and the same import can simply be repeated.
 */
export async function importRecords(sql: Database, options: ImportOptions): Promise<ImportReport> {
  const importer: Importer<BatchRow> = importers[options.entity];
  const countryCodes = await selectCountryCodes(sql);
  const subject = subjectOf[options.entity];
  if (subject === undefined) {
    return new ImportRun(sql, importer, options, countryCodes, async () => {}).run();
  }
  // A source that is compared meanwhile would neither see these records nor be seen, and would not be joined with them.
  const importAndJoin = async (locked: Sql) => {
    const joins = await hasSources(sql);
    const join: AfterMerge = async (tx, ids) => {
      if (joins) await followOwnRecords(tx, subject, ids);
      await assertStillLocked(locked);
    };
    const report = await new ImportRun(sql, importer, options, countryCodes, join).run();
    if (joins) await buildQueued(sql);
    return report;
  };
  return withImportLock(sql, importAndJoin, { shared: true });
}

/** Called at the end of each transaction, with the ids of its records. */
type AfterMerge = (tx: Sql, ids: readonly number[]) => Promise<void>;

class ImportRun<Row extends BatchRow> {
  readonly #sql: Database;
  readonly #importer: Importer<Row>;
  readonly #options: ImportOptions;
  readonly #context: ImportContext;
  readonly #afterMerge: AfterMerge;
  readonly #counts = { read: 0, inserted: 0, updated: 0, unchanged: 0, rejected: 0 };
  readonly #unknown = new Map<string, number>();
  #refusedByDatabase = 0;

  constructor(
    sql: Database,
    importer: Importer<Row>,
    options: ImportOptions,
    countryCodes: ReadonlyMap<number, string>,
    afterMerge: AfterMerge,
  ) {
    this.#sql = sql;
    this.#afterMerge = afterMerge;
    this.#importer = importer;
    this.#options = options;
    const importedAt = (options.importedAt ?? new Date()).toISOString().slice(0, 19);
    this.#context = { importedAt, countryCodes, dropped: {}, companyKeys: null };
  }

  async run(): Promise<ImportReport> {
    const startedAt = performance.now();
    const { input, format } = this.#options;
    let merging = Promise.resolve();
    let batch = this.#importer.createBatch(this.#context);
    let size = { records: 0, bytes: 0 };
    try {
      for await (const items of readRecords(input, format)) {
        for (const item of items) {
          const bytes = await this.#add(batch, item);
          if (bytes === 0) continue;
          size.records += 1;
          size.bytes += bytes;
          if (size.records < BATCH_RECORDS_MAX && size.bytes < BATCH_BYTES_MAX) continue;
          await merging;
          merging = this.#mergeBatch(batch, size.records);
          // An early failure is thrown at the next await; until then it must not count as unhandled.
          merging.catch(() => {});
          batch = this.#importer.createBatch(this.#context);
          size = { records: 0, bytes: 0 };
        }
      }
    } finally {
      await merging;
    }
    await this.#mergeBatch(batch, size.records);
    if (titledEntities.has(this.#options.entity)) await writeGraph(this.#sql, refreshLookupTitles);
    if (namedEntities.has(this.#options.entity)) await writeGraph(this.#sql, refreshNameCounts);
    const seconds = Math.round(performance.now() - startedAt) / 1000;
    const unknownFields = Object.fromEntries(this.#unknown);
    return { ...this.#counts, unknownFields, droppedValues: this.#context.dropped, seconds };
  }

  /** Adds the item to the batch or to the rejects; returns the bytes by which the batch grew. */
  async #add(batch: Batch<Row>, item: SourceItem): Promise<number> {
    this.#counts.read += 1;
    if ('reason' in item) {
      await this.#reject(item, { field: null, reason: item.reason });
      return 0;
    }
    this.#countUnknown(item.record);
    const problem = batch.add(item);
    if (problem === null) return Math.max(item.size, 1);
    await this.#reject(item, problem);
    return 0;
  }

  #countUnknown(record: JsonRecord): void {
    for (const name of Object.keys(record)) {
      if (this.#importer.knownFields.has(name)) continue;
      this.#unknown.set(name, (this.#unknown.get(name) ?? 0) + 1);
    }
  }

  async #mergeBatch(batch: Batch<Row>, records: number): Promise<void> {
    if (records === 0) return;
    const rows = batch.rows();
    const { inserted, updated, rejected } = await this.#mergeRows(batch, rows);
    for (const { row, problem } of rejected) await this.#reject(row, problem);
    this.#counts.inserted += inserted;
    this.#counts.updated += updated;
    this.#counts.unchanged += records - inserted - updated - rejected.length;
    this.#options.onProgress?.({ ...this.#counts });
  }

  /** Merges in one transaction; isolates a record that the database refuses by bisection. */
  async #mergeRows(batch: Batch<Row>, rows: readonly Row[]): Promise<MergeResult> {
    try {
      return await writeGraph(this.#sql, async (tx) => {
        const result = await batch.merge(tx, rows);
        const ids = rows.map((row) => ('id' in row ? Number(row.id) : 0));
        await this.#afterMerge(tx, ids);
        return result;
      });
    } catch (error) {
      if (!isRefusal(error) || this.#refusedByDatabase >= REFUSED_BY_DATABASE_MAX) throw error;
      const [row] = rows;
      if (row !== undefined && rows.length === 1) {
        this.#refusedByDatabase += 1;
        const problem = { field: null, reason: `refused_by_database: ${error.message}` };
        return { inserted: 0, updated: 0, rejected: [{ row, problem }] };
      }
    }
    const middle = Math.ceil(rows.length / 2);
    const first = await this.#mergeRows(batch, rows.slice(0, middle));
    const second = await this.#mergeRows(batch, rows.slice(middle));
    return {
      inserted: first.inserted + second.inserted,
      updated: first.updated + second.updated,
      rejected: [...first.rejected, ...second.rejected],
    };
  }

  async #reject(item: BatchRow, why: Problem): Promise<void> {
    this.#counts.rejected += 1;
    const { rejects } = this.#options;
    const { line, source } = item;
    const { reason, field } = why;
    await writeReject(rejects, { line, reason, field, record: readable(source) });
  }
}

/** Returns true for data exceptions, violated constraints and exceeded limits, which are caused by a row. */
function isRefusal(error: unknown): error is postgres.PostgresError {
  return error instanceof postgres.PostgresError && /^(?:22|23|54)/.test(error.code);
}

/** Returns the record for the rejects, or its text when it was not parsed. */
function readable(source: RecordSource): unknown {
  if (!(source instanceof Uint8Array)) return source;
  const text = new TextDecoder().decode(source);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
