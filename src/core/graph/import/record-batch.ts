/** A batch of people or companies: rows for the stage, and the order of the merge. */
import type { Sql } from '../../db/client.ts';
import { copyInto } from '../../db/copy-into.ts';
import { must } from '../../lib/assert.ts';
import { renderCompanyRecords, renderPersonRecords } from '../graph.sql.ts';
import { countNewPeople, recountStagedPeople } from '../lookup-values.sql.ts';
import { insertCompanyKeys, keysOfCompany } from '../name-keys.sql.ts';
import {
  type Batch,
  type ImportContext,
  type Importer,
  type MergeResult,
  regionOf,
} from './batch.ts';
import { coerceRecordId } from './coerce.ts';
import { type ImportColumn, type Problem, readCells } from './columns.ts';
import { copyCompanyRecords } from './company-record.ts';
import {
  companyColumns,
  companyIdentifiers,
  companyKnownFields,
  companyNames,
  directorsOf,
  withRegistryCountry,
} from './company-row.ts';
import { copyCell } from './copy-text.ts';
import { derivedFields, derivedIdsOf, deriveReferences } from './derive-references.ts';
import * as queries from './import-records.sql.ts';
import { personColumns, personIdentifiers, personKnownFields } from './person-row.ts';
import type { JsonRecord, SourceRecord } from './read-records.ts';
import type { IdentifierSet, RecordRow } from './record-row.ts';
import {
  findTakenIds,
  followReferences,
  type MergedReferences,
  mergeReferences,
} from './references.sql.ts';
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
  identifiers(id: number, record: JsonRecord, region: string | undefined): IdentifierSet;
  nameKeys(record: JsonRecord, identifiers: IdentifierSet): readonly number[] | null;
  officers(id: number, record: JsonRecord): string | null | Problem;
}

const personKind: RecordKind = {
  tables: queries.personTables,
  columns: personColumns,
  prepare: (record) => record,
  identifiers: personIdentifiers,
  nameKeys: () => null,
  officers: () => null,
};

const companyKind: RecordKind = {
  tables: queries.companyTables,
  columns: companyColumns,
  prepare: withRegistryCountry,
  identifiers: companyIdentifiers,
  nameKeys: (record, identifiers) => keysOfCompany(companyNames(record, identifiers)),
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
    const { given, notes: derived, lost } = deriveReferences(this.#kind.prepare(item.record));
    const chosen = derived.filter((note) => !this.#references.isTaken(note));
    const record = chosen.length === 0 ? given : { ...given, ...derivedIdsOf(given, chosen) };
    const region = regionOf(record, this.#context);
    const { dropped } = this.#context;
    const cells = readCells(this.#kind.columns, record, { region, dropped });
    if (typeof cells !== 'string') return cells;
    const id = Number(coerceRecordId(record.id));
    const officers = this.#kind.officers(id, record);
    if (officers !== null && typeof officers !== 'string') return officers;
    const { notes, problem } = referencesOf(given);
    if (problem !== undefined) return { field: problem, reason: 'not_a_reference' };
    const found = this.#kind.identifiers(id, record, region);
    const identifiers = found.lines();
    const nameKeys = this.#kind.nameKeys(record, found);
    for (const field of lost) dropped[field] = (dropped[field] ?? 0) + 1;
    const { line, source } = item;
    this.#references.add([...notes, ...chosen]);
    this.#rows.set(id, { id, line, source, cells, identifiers, nameKeys, officers });
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
    await this.#leaveOutTakenIds(tx, rows);
    await this.#stageOfficers(tx, rows);
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
    await copyInto(
      tx,
      target,
      linesOf(rows, ({ cells }) => `${cells}\n`),
    );
    const identified = { table: 'stage_identifiers', columns: ['value', 'kind', 'id'] };
    await copyInto(
      tx,
      identified,
      linesOf(rows, ({ identifiers }) => identifiers),
    );
    await queries.compareRecords(tx, tables);
    if (tables.records === 'persons') await recountStagedPeople(tx);
    await queries.writeRecords(tx, tables, this.#context.importedAt);
    await queries.replaceIdentifiers(tx, tables);
  }

  /** Inserts records of which none is stored: directly into their table, with a quarter less work. */
  async #insertNew(tx: Sql, rows: readonly RecordRow[]): Promise<void> {
    const { tables } = this.#kind;
    const { importedAt, companyKeys } = this.#context;
    const stored = rows.map(({ cells }) => withTimes(cells, importedAt));
    const target = { table: tables.records, columns: tables.columns };
    await copyInto(
      tx,
      target,
      linesOf(stored, (cells) => `${cells}\n`),
    );
    await queries.createChangesOfNew(tx);
    const noted = { table: 'stage_changes', columns: ['id'] };
    await copyInto(
      tx,
      noted,
      linesOf(rows, ({ id }) => `${id}\n`),
    );
    const identified = { table: tables.identifiers, columns: ['value', 'kind', tables.owner] };
    await copyInto(tx, identified, identifiersInOrder(rows));
    if (tables.records === 'persons') {
      await queries.listChanged(tx, tables);
      await countNewPeople(tx);
    } else {
      const keyed = rows.map(({ id, nameKeys }) => ({ id, keys: must(nameKeys, 'keys') }));
      await (companyKeys === null ? insertCompanyKeys(tx, keyed) : companyKeys.add(tx, keyed));
      await copyCompanyRecords(
        tx,
        stored.map((cells) => cells.split('\t')),
      );
    }
  }

  /** Stages officers, which are compared with the stored ones. */
  async #stageOfficers(tx: Sql, rows: readonly RecordRow[]): Promise<void> {
    const copy = (table: string, columns: readonly string[], lineOf: (row: RecordRow) => string) =>
      copyInto(tx, { table, columns }, linesOf(rows, lineOf));
    if (rows.every((row) => row.officers === null)) return;
    const directorColumns = ['company_id', 'name', 'role', 'person_id'];
    await copy('stage_directors', directorColumns, (row) => row.officers ?? '');
    await copy('stage_directed', ['id'], (row) => (row.officers === null ? '' : `${row.id}\n`));
  }

  async #mergeReferences(tx: Sql): Promise<void> {
    const written = new Map<ReferenceTable, MergedReferences>();
    for (const table of referenceTables) {
      const rows = this.#references.rowsOf(table);
      if (rows.stated.size + rows.derived.size === 0) continue;
      const merged = await mergeReferences(tx, table, rows);
      if (merged.inserted.length + merged.updated.length > 0) written.set(table, merged);
    }
    if (written.size > 0) await followReferences(tx, written);
  }

  /** Of two values with the same derived id, one in 10^9 pairs, the later has none. */
  async #leaveOutTakenIds(tx: Sql, rows: readonly RecordRow[]): Promise<void> {
    for (const table of ['positions', 'industries', 'cities'] as const) {
      const { derived } = this.#references.rowsOf(table);
      const taken = new Set((await findTakenIds(tx, table, derived)).map(String));
      if (taken.size === 0) continue;
      const place = this.#kind.columns.findIndex(({ field }) => field === derivedFields[table]);
      const absent = copyCell(must(this.#kind.columns[place], derivedFields[table]).absent);
      for (const row of rows) {
        const cells = row.cells.split('\t');
        if (taken.has(cells[place] ?? '')) row.cells = cells.with(place, absent).join('\t');
      }
    }
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

/** COPY lines in the order of their values, so that neighbours in the index are written together. */
function* identifiersInOrder(rows: readonly RecordRow[]): Generator<string> {
  const lines = rows.flatMap(({ identifiers }) => identifiers.split('\n').slice(0, -1));
  for (const line of lines.sort()) yield `${line}\n`;
}

/** One by one, so that the batch is not in memory twice. */
function* linesOf<Row>(rows: readonly Row[], lineOf: (row: Row) => string): Generator<string> {
  for (const row of rows) yield lineOf(row);
}
