/** Shared helpers of the tests of sources: imports of files and texts, and the graph that comes out. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { expect } from 'vitest';
import type { Database } from '../core/db/client.ts';
import {
  importSource,
  type SourceImportOptions,
  type SourceImportReport,
} from '../core/graph/sources/import-source.ts';
import { must } from '../core/lib/assert.ts';
import { packageRoot } from '../core/lib/package-root.ts';
import { openSource, type SourceFiles } from './read-source.ts';

/** The real and re-written samples, when they are beside the project. */
export const samples = path.join(packageRoot, '..', 'shared', 'data', 'sources');
export const hasSamples = existsSync(samples);

/** The counts and values of the samples. */
export async function readExpected(): Promise<Record<string, Record<string, never>>> {
  return JSON.parse(await readFile(path.join(samples, 'expected.json'), 'utf8'));
}

export interface SourceOutcome extends SourceImportReport {
  rejects: { line: number; reason: string; field: string | null; record: unknown }[];
}

/** Imports files by their paths. */
export async function importFiles(
  sql: Database,
  given: SourceFiles,
  options: Omit<SourceImportOptions, 'rejects'> = {},
): Promise<SourceOutcome> {
  const rejected: Buffer[] = [];
  const rejects = new Writable({
    write(chunk: Buffer, _encoding, done) {
      rejected.push(chunk);
      done();
    },
  });
  const report = await importSource(sql, await openSource(given), { ...options, rejects });
  const lines = Buffer.concat(rejected).toString().split('\n').filter(Boolean);
  return { ...report, rejects: lines.map((line) => JSON.parse(line)) };
}

/** Imports a text as a file of this name. */
export async function importText(
  sql: Database,
  { name, text, ...given }: { name: string; text: string | Buffer } & Omit<SourceFiles, 'files'>,
  options: Omit<SourceImportOptions, 'rejects'> = {},
): Promise<SourceOutcome> {
  return importTexts(sql, { ...given, parts: [[name, text]] }, options);
}

/** Imports texts as the files of one import. */
export async function importTexts(
  sql: Database,
  {
    parts,
    ...given
  }: { parts: readonly (readonly [name: string, text: string | Buffer])[] } & Omit<
    SourceFiles,
    'files'
  >,
  options: Omit<SourceImportOptions, 'rejects'> = {},
): Promise<SourceOutcome> {
  const folder = await mkdtemp(path.join(tmpdir(), 'source-'));
  try {
    const files = parts.map(([name]) => path.join(folder, name));
    for (const [place, [, text]] of parts.entries()) await writeFile(files[place] ?? '', text);
    return await importFiles(sql, { ...given, files }, options);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Runs an import of which nothing is built, as if its worker had ended; the next import builds it. */
export async function withoutBuild(sql: Database, run: () => Promise<unknown>): Promise<void> {
  await sql`
    create function refuse_build() returns trigger language plpgsql as $$
    begin raise 'not built yet'; end $$`;
  await sql`
    create trigger refuse_build before delete on records_to_build
    execute function refuse_build()`;
  await expect(run()).rejects.toThrow('not built yet');
  await sql`drop function refuse_build cascade`;
}

/** CSV with every cell in quotes. */
function quotedCsv(rows: readonly (readonly string[])[], lineEnd = '\n'): string {
  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
  return rows.map((row) => row.map(cell).join(',') + lineEnd).join('');
}

/** CSV of objects under this header; a cell that an object lacks is empty. */
export function csvOf(
  header: readonly string[],
  objects: readonly Record<string, string>[],
): string {
  return quotedCsv([header, ...objects.map((object) => header.map((name) => object[name] ?? ''))]);
}

/** The company of a record of a source: some columns, by the key that the source gives it. */
export async function companyOf(
  sql: Database,
  source: string,
  key: string,
): Promise<Record<string, unknown> | undefined> {
  const [row] = await sql<Record<string, unknown>[]>`
    select c.* from source_records r join companies c on c.id = r.id
    where r.source = ${source} and r.key = ${key}`;
  return row;
}

/** The person of a record of a source. */
export async function personOf(
  sql: Database,
  source: string,
  key: string,
): Promise<Record<string, unknown> | undefined> {
  const [row] = await sql<Record<string, unknown>[]>`
    select p.* from source_records r join persons p on p.id = r.id
    where r.source = ${source} and r.key = ${key}`;
  return row;
}

/** The number of rows of a table. */
export async function countRows(sql: Database, table: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from ${sql(table)}`;
  return must(row, 'count').count;
}
