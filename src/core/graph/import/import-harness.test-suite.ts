/** Shared helpers of the import's tests: import from values in memory, and records as JSON. */
import { Readable, Writable } from 'node:stream';
import type { Database } from '../../db/client.ts';
import { must } from '../../lib/assert.ts';
import { companyFields, personFields } from '../fields.ts';
import { recordToJson } from '../record.ts';
import { type ImportEntity, type ImportReport, importRecords } from '../sources/import-records.ts';
import { openRecords } from './open-records.ts';

export interface ImportOutcome extends ImportReport {
  rejects: { line: number; reason: string; field: string | null; record: unknown }[];
}

/** Imports values as JSON lines, or a text unchanged. */
export async function importValues(
  sql: Database,
  entity: ImportEntity,
  values: readonly unknown[] | string,
  importedAt = '2025-06-01T10:00:00Z',
): Promise<ImportOutcome> {
  const text =
    typeof values === 'string' ? values : values.map((value) => JSON.stringify(value)).join('\n');
  const rejected: Buffer[] = [];
  const rejects = new Writable({
    write(chunk: Buffer, _encoding, done) {
      rejected.push(chunk);
      done();
    },
  });
  const opened = await openRecords(Readable.from([Buffer.from(text)]));
  const report = await importRecords(sql, {
    entity,
    ...opened,
    rejects,
    importedAt: new Date(importedAt),
  });
  const lines = Buffer.concat(rejected).toString().split('\n').filter(Boolean);
  return { ...report, rejects: lines.map((line) => JSON.parse(line)) };
}

/** Returns the person as the API returns it; undefined when there is none. */
export async function readPerson(
  sql: Database,
  id: number,
): Promise<Record<string, unknown> | undefined> {
  const [row] = await sql<{ record: string }[]>`select record from person_records where id = ${id}`;
  return row === undefined ? undefined : JSON.parse(recordToJson(personFields, row.record));
}

/** Returns the company as the API returns it. */
export async function readCompany(sql: Database, id: number): Promise<Record<string, unknown>> {
  const [row] = await sql<
    { record: string }[]
  >`select record from company_records where id = ${id}`;
  return JSON.parse(recordToJson(companyFields, must(row, `company ${id}`).record));
}

/** `kind value` of each identifier, in order. */
export async function readIdentifiers(
  sql: Database,
  of: 'person' | 'company',
  id: number,
): Promise<string[]> {
  const rows = await sql<{ kind: number; value: string }[]>`
    select kind, value from ${sql(`${of}_identifiers`)} where ${sql(`${of}_id`)} = ${id}
    order by kind, value`;
  return rows.map((row) => `${row.kind} ${row.value}`);
}

/** Row versions of a table: they change with every write, even of equal values. */
export async function readVersions(sql: Database, table: string): Promise<string[]> {
  const rows = await sql<{ version: string }[]>`
    select ctid::text || ' ' || xmin::text || ' ' || xmax::text as version
    from ${sql(table)} order by ctid`;
  return rows.map((row) => row.version);
}
