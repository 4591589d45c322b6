/** A batch of people or companies: rows for the stage, and the order of the merge. */
import type { Sql } from '../../db/client.ts';
import { renderCompanyRecords, renderPersonRecords } from '../graph.sql.ts';
import { countNewPeople, recountStagedPeople } from '../lookup-values.sql.ts';
import {
  type Batch,
  type ImportContext,
  type Importer,
  type MergeResult,
  regionOf,
} from './batch.ts';
import { coerceRecordId } from './coerce.ts';
import { type ImportColumn, type Problem, readCells } from './columns.ts';
import {
  companyColumns,
  companyIdentifiers,
  companyKnownFields,
  directorsOf,
  withRegistryCountry,
} from './company-row.ts';
import * as queries from './import-records.sql.ts';
import { personColumns, personIdentifiers, personKnownFields } from './person-row.ts';
import type { JsonRecord, SourceRecord } from './read-records.ts';
import type { RecordRow } from './record-row.ts';
import { followReferences, mergeReferences } from './references.sql.ts';
import {
  ReferenceBatch,
  type ReferenceTable,
  referencesOf,
  referenceTables,
} from './references.ts';

interface RecordKind {
  tables: queries.RecordTables;
  columns: readonly ImportColumn[];
  prepare(record: JsonRecord): JsonRecord;
  identifiers(id: number, record: JsonRecord, region: string | undefined): string;
  officers(id: number, record: JsonRecord): string | null | Problem;
}

const personKind: RecordKind = {
  tables: queries.personTables,
  columns: personColumns,
  prepare: (record) => record,
  identifiers: personIdentifiers,
  officers: () => null,
};

const companyKind: RecordKind = {
  tables: queries.companyTables,
  columns: companyColumns,
  prepare: withRegistryCountry,
  identifiers: companyIdentifiers,
  officers: directorsOf,
};

export const personImporter: Importer<RecordRow> = {
  knownFields: personKnownFields,
  createBatch: (context) => new RecordBatch(personKind, context),
};

export const companyImporter: Importer<RecordRow> = {
  knownFields: companyKnownFields,
  createBatch: (context) => new RecordBatch(companyKind, context),
};

class RecordBatch implements Batch<RecordRow> {
  readonly #kind: RecordKind;
  readonly #context: ImportContext;
  readonly #rows = new Map<number, RecordRow>();
  readonly #references = new ReferenceBatch();

  constructor(kind: RecordKind, context: ImportContext) {
    this.#kind = kind;
    this.#context = context;
  }

  add(item: SourceRecord): Problem | null {
    const record = this.#kind.prepare(item.record);
    const region = regionOf(record, this.#context);
    const { dropped } = this.#context;
    const cells = readCells(this.#kind.columns, record, { region, dropped });
    if (typeof cells !== 'string') return cells;
    const id = Number(coerceRecordId(record.id));
    const officers = this.#kind.officers(id, record);
    if (officers !== null && typeof officers !== 'string') return officers;
    const { notes, problem } = referencesOf(record);
    if (problem !== undefined) return { field: problem, reason: 'not_a_reference' };
    const identifiers = this.#kind.identifiers(id, record, region);
    const { line, source } = item;
    this.#references.add(notes);
    this.#rows.set(id, { id, line, source, cells, identifiers, officers });
    return null;
  }

  rows(): RecordRow[] {
    return [...this.#rows.values()];
  }

  async merge(tx: Sql, rows: readonly RecordRow[]): Promise<MergeResult> {
    const { tables } = this.#kind;
    const isStored = await queries.isAnyStored(
      tx,
      tables,
      rows.map(({ id }) => id),
    );
    await queries.createRenderLists(tx);
    await queries.createRecordStage(tx, tables);
    await this.#mergeReferences(tx);
    await this.#stageDependents(tx, rows);
    await (isStored ? this.#mergeStored(tx, rows) : this.#insertNew(tx, rows));
    if (tables.records === 'persons') {
      await queries.suppressOptedOut(tx);
    } else {
      await queries.replaceDirectors(tx);
      await queries.listPeopleOfChangedCompanies(tx);
    }
    await renderListed(tx);
    return { ...(await queries.countChanges(tx)), rejected: [] };
  }

  /** Merges records of which some are stored: through the stage, where they are compared. */
  async #mergeStored(tx: Sql, rows: readonly RecordRow[]): Promise<void> {
    const { tables } = this.#kind;
    const target = { table: 'stage_records', columns: tables.columns };
    await queries.copyInto(
      tx,
      target,
      linesOf(rows, ({ cells }) => `${cells}\n`),
    );
    await queries.compareRecords(tx, tables);
    if (tables.records === 'persons') await recountStagedPeople(tx);
    await queries.writeRecords(tx, tables, this.#context.importedAt);
    await queries.replaceIdentifiers(tx, tables);
  }

  /** Inserts records of which none is stored: directly into their table, with a quarter less work. */
  async #insertNew(tx: Sql, rows: readonly RecordRow[]): Promise<void> {
    const { tables } = this.#kind;
    const { importedAt } = this.#context;
    const target = { table: tables.records, columns: tables.columns };
    await queries.copyInto(
      tx,
      target,
      linesOf(rows, ({ cells }) => `${withTimes(cells, importedAt)}\n`),
    );
    await queries.createChangesOfNew(tx);
    const noted = { table: 'stage_changes', columns: ['id'] };
    await queries.copyInto(
      tx,
      noted,
      linesOf(rows, ({ id }) => `${id}\n`),
    );
    await queries.insertIdentifiers(tx, tables);
    await queries.listChanged(tx, tables);
    if (tables.records === 'persons') await countNewPeople(tx);
  }

  /** Stages identifiers and officers, which are compared with the stored ones by their own steps. */
  async #stageDependents(tx: Sql, rows: readonly RecordRow[]): Promise<void> {
    const copy = (table: string, columns: readonly string[], lineOf: (row: RecordRow) => string) =>
      queries.copyInto(tx, { table, columns }, linesOf(rows, lineOf));
    await copy('stage_identifiers', ['value', 'kind', 'id'], (row) => row.identifiers);
    if (rows.every((row) => row.officers === null)) return;
    const directorColumns = ['company_id', 'name', 'role', 'person_id'];
    await copy('stage_directors', directorColumns, (row) => row.officers ?? '');
    await copy('stage_directed', ['id'], (row) => (row.officers === null ? '' : `${row.id}\n`));
  }

  async #mergeReferences(tx: Sql): Promise<void> {
    const changed = new Map<ReferenceTable, readonly number[]>();
    for (const table of referenceTables) {
      const rows = this.#references.rowsOf(table);
      if (rows.stated.size + rows.derived.size === 0) continue;
      const { inserted, updated } = await mergeReferences(tx, table, rows);
      if (inserted.length + updated.length > 0) changed.set(table, [...inserted, ...updated]);
    }
    if (changed.size > 0) await followReferences(tx, changed);
  }
}

/** Renders the records that the transaction listed; last, because it reads everything written. */
export async function renderListed(tx: Sql): Promise<void> {
  await renderCompanyRecords(tx, { idsIn: queries.companyTables.rendered });
  await renderPersonRecords(tx, { idsIn: queries.personTables.rendered });
}

/** Adds the missing times of a record to its cells; `id`, `created_at` and `when_updated` come first. */
function withTimes(cells: string, importedAt: string): string {
  return cells.replace(TIMES_OF_CELLS, (_, id: string, created: string, updated: string) => {
    const given = (time: string) => (time === '\\N' ? importedAt : time);
    return `${id}\t${given(created)}\t${given(updated)}`;
  });
}

const TIMES_OF_CELLS = /^([^\t]*)\t([^\t]*)\t([^\t]*)/;

/** One by one, so that the batch is not in memory twice. */
function* linesOf<Row>(rows: readonly Row[], lineOf: (row: Row) => string): Generator<string> {
  for (const row of rows) yield lineOf(row);
}
