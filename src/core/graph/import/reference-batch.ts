/** A batch of rows of a reference file. */
import type { Sql } from '../../db/client.ts';
import { isDerivedId } from '../vocabulary/derived-ids.ts';
import type { Batch, BatchRow, Importer, MergeResult } from './batch.ts';
import {
  asObject,
  coerceKeyText,
  coerceReferenceId,
  coerceTimestamp,
  isAbsent,
  Unreadable,
} from './coerce.ts';
import type { Problem } from './columns.ts';
import { createRenderLists } from './import-records.sql.ts';
import type { JsonRecord, SourceRecord } from './read-records.ts';
import { renderListed } from './record-batch.ts';
import { followReferences, replaceReferences } from './references.sql.ts';
import type { ReferenceRow, ReferenceTable } from './references.ts';

interface Row extends BatchRow {
  reference: ReferenceRow;
}

const knownFields: Readonly<Record<ReferenceTable, readonly string[]>> = {
  countries: ['id', 'name', 'iso2'],
  regions: ['id', 'name', 'countryId', 'countries'],
  cities: ['id', 'name', 'countryId', 'countries', 'regionId', 'regions', 'createdAt'],
  industries: ['id', 'name'],
  positions: ['id', 'name'],
};

/** The importer of one reference table. */
export function referenceImporter(table: ReferenceTable): Importer<Row> {
  return {
    knownFields: new Set(knownFields[table]),
    createBatch: () => new ReferenceFileBatch(table),
  };
}

class ReferenceFileBatch implements Batch<Row> {
  readonly #table: ReferenceTable;
  readonly #rows = new Map<number, Row>();

  constructor(table: ReferenceTable) {
    this.#table = table;
  }

  add({ record, line, source }: SourceRecord): Problem | null {
    const reference = readRow(this.#table, record);
    if (!('id' in reference)) return reference;
    this.#rows.set(reference.id, { line, source, reference });
    return null;
  }

  rows(): Row[] {
    return [...this.#rows.values()];
  }

  async merge(tx: Sql, rows: readonly Row[]): Promise<MergeResult> {
    await createRenderLists(tx);
    const byId = new Map(rows.map(({ reference }) => [reference.id, reference]));
    const written = await replaceReferences(tx, this.#table, byId);
    const { inserted, updated } = written;
    if (inserted.length + updated.length > 0) {
      await followReferences(tx, new Map([[this.#table, written]]));
    }
    await renderListed(tx);
    return { inserted: inserted.length, updated: updated.length, rejected: [] };
  }
}

function readRow(table: ReferenceTable, record: JsonRecord): ReferenceRow | Problem {
  if (isAbsent(record.id)) return { field: 'id', reason: 'missing' };
  const id = coerceReferenceId(record.id);
  if (typeof id !== 'number') return { field: 'id', reason: id.reason };
  if (id === 0) return { field: 'id', reason: 'out_of_range' };
  if (isDerivedId(id)) return { field: 'id', reason: 'reserved_id' };
  const name = isAbsent(record.name) ? new Unreadable('missing') : coerceKeyText(record.name);
  if (typeof name !== 'string') return { field: 'name', reason: name.reason };
  if (name.trim() === '') return { field: 'name', reason: 'missing' };
  const row: ReferenceRow = { id, name };
  const problem = readFurther(table, record, row);
  return problem ?? row;
}

/** Reads the table's columns besides id and name into `row`. */
function readFurther(table: ReferenceTable, record: JsonRecord, row: ReferenceRow): Problem | null {
  if (table === 'countries' && !isAbsent(record.iso2)) {
    const iso2 = String(record.iso2).trim().toUpperCase();
    if (!/^[A-Z]{2}$/.test(iso2)) return { field: 'iso2', reason: 'not_a_country_code' };
    row.iso2 = iso2;
  }
  if (table !== 'regions' && table !== 'cities') return null;
  const fields =
    table === 'cities' ? (['countryId', 'regionId'] as const) : (['countryId'] as const);
  for (const field of fields) {
    const object = field === 'countryId' ? record.countries : record.regions;
    const value = isAbsent(record[field]) ? asObject(object)?.id : record[field];
    if (isAbsent(value)) continue;
    const id = coerceReferenceId(value);
    if (typeof id !== 'number') return { field, reason: id.reason };
    row[field] = id;
  }
  if (table !== 'cities' || isAbsent(record.createdAt)) return null;
  const createdAt = coerceTimestamp(record.createdAt);
  if (typeof createdAt !== 'string') return { field: 'createdAt', reason: createdAt.reason };
  row.createdAt = createdAt;
  return null;
}
