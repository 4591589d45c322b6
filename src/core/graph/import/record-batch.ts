/** A batch of people or companies: rows for the stage, and the merge in its order. */
import type { Sql } from '../../db/client.ts';
import { recountStagedPeople } from '../lookup-values/queries.ts';
import { renderCompanyRecords, renderPersonRecords } from '../queries.ts';
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
import { personColumns, personIdentifiers, personKnownFields } from './person-row.ts';
import * as queries from './queries.ts';
import type { JsonRecord, SourceRecord } from './read-records.ts';
import type { RecordRow } from './record-row.ts';
import { followReferences, mergeReferences } from './reference-rows/queries.ts';
import {
  ReferenceBatch,
  type ReferenceTable,
  referencesOf,
  referenceTables,
} from './reference-rows/references.ts';

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
    await queries.createRenderLists(tx);
    await this.#stage(tx, rows);
    await this.#mergeReferences(tx);
    await queries.compareRecords(tx, tables);
    if (tables.records === 'persons') await recountStagedPeople(tx);
    await queries.writeRecords(tx, tables, this.#context.importedAt);
    await queries.replaceIdentifiers(tx, tables);
    if (tables.records === 'persons') {
      await queries.suppressOptedOut(tx);
    } else {
      await queries.replaceDirectors(tx);
      await queries.listPeopleOfChangedCompanies(tx);
    }
    await renderListed(tx);
    return { ...(await queries.countChanges(tx)), rejected: [] };
  }

  async #stage(tx: Sql, rows: readonly RecordRow[]): Promise<void> {
    const { tables } = this.#kind;
    await queries.createRecordStage(tx, tables);
    const copy = (table: string, columns: readonly string[], lineOf: (row: RecordRow) => string) =>
      queries.copyInto(tx, { table, columns }, linesOf(rows, lineOf));
    await copy('stage_records', tables.columns, (row) => `${row.cells}\n`);
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

/** Renders the records that the transaction listed; last, because it reads all that was written. */
export async function renderListed(tx: Sql): Promise<void> {
  await renderCompanyRecords(tx, { idsIn: queries.companyTables.rendered });
  await renderPersonRecords(tx, { idsIn: queries.personTables.rendered });
}

/** One after another, so that the batch is not in memory twice. */
function* linesOf<Row>(rows: readonly Row[], lineOf: (row: Row) => string): Generator<string> {
  for (const row of rows) yield lineOf(row);
}
