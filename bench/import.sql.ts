/** Statements of the measured import. Names of tables are constants of this file. */
import path from 'node:path';
import { type Database, inTransaction, type Sql } from '../src/core/db/client.ts';
import { runConstant } from '../src/core/graph/graph.sql.ts';
import { personIdentifierCodes } from '../src/core/graph/identifier-kinds.ts';
import { must } from '../src/core/lib/assert.ts';
import { asLiteral } from './bench.sql.ts';

/** Tables that an import of people only reads. */
export const neededByImport = [
  'countries',
  'regions',
  'cities',
  'industries',
  'positions',
  'companies',
] as const;

/** Tables that an import of people fills. Of the lookup values it changes only the counts. */
export const filledByImport = [
  'persons',
  'person_identifiers',
  'person_records',
  'person_briefs',
  'person_search',
  'person_name_keys',
  'keyed_persons',
  'lookup_values',
] as const;

/** Tables of which an import of a register fills a row or more for each company: their values, and where each is from. */
export const filledByRegister = [
  'source_records',
  'source_keys',
  'companies',
  'company_identifiers',
  'company_records',
  'company_name_keys',
  'keyed_companies',
] as const;

export async function makeDatabase(sql: Sql, name: string, what: 'create' | 'drop'): Promise<void> {
  await runConstant(sql, `drop database if exists ${name} with (force)`);
  if (what === 'create') await runConstant(sql, `create database ${name}`);
}

/** Makes the server write tables of the graph to files with their names. */
export async function copyToFiles(
  sql: Sql,
  tables: readonly string[],
  folder: string,
): Promise<void> {
  for (const table of tables) {
    await runConstant(sql, `copy ${table} to ${asLiteral(path.join(folder, table))}`);
  }
}

/** Makes the server fill tables from such files, in one transaction. */
export async function copyFromFiles(
  sql: Database,
  schema: 'graph' | 'copied',
  tables: readonly string[],
  folder: string,
): Promise<void> {
  await inTransaction(sql, async (tx) => {
    for (const table of tables) {
      const file = asLiteral(path.join(folder, table));
      await runConstant(tx, `copy ${schema}.${table} from ${file}`);
    }
  });
}

export async function nameLookups(sql: Sql): Promise<void> {
  await sql`select rebuild_lookups()`;
  await sql`analyze`;
}

/** Copies of the tables with the same columns, constraints and indexes in a separate schema. */
export async function makeCopies(sql: Sql, tables: readonly string[]): Promise<void> {
  await runConstant(sql, 'create schema copied');
  for (const table of tables) {
    await runConstant(sql, `create table copied.${table} (like graph.${table} including all)`);
  }
}

/** Resets all tables to their state before the people, and flushes, so that the timed run starts clean. */
export async function emptyImported(sql: Sql): Promise<void> {
  const copies = filledByImport.map((table) => `copied.${table}`);
  await runConstant(
    sql,
    `truncate persons, person_identifiers, person_records, person_briefs, person_search, person_name_keys, keyed_persons, ${copies.join(', ')}`,
  );
  await sql`delete from lookup_values where name = ''`;
  await sql`update lookup_values set people = 0`;
  await sql`vacuum analyze lookup_values`;
  await sql`checkpoint`;
}

/** Resets an empty graph to its state before the companies of a register, and flushes. */
export async function emptyRegistered(sql: Sql): Promise<void> {
  const copies = filledByRegister.map((table) => `copied.${table}`);
  await runConstant(
    sql,
    `truncate ${filledByRegister.join(', ')}, imports, cities, industries, lookup_values, lookup_words, ${copies.join(', ')}
     restart identity`,
  );
  await sql`checkpoint`;
}

/** The names of some companies, by id. */
export async function readCompanyNames(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from companies where name <> '' order by id limit ${limit}`;
  return rows.map(({ name }) => name);
}

/** Returns the number of rows of a table. */
export async function countRows(sql: Sql, table: string): Promise<number> {
  const [row] = await runConstant<{ found: number }>(
    sql,
    `select count(*)::int as found from ${table}`,
  );
  return must(row, 'one row').found;
}

/** Rows of a table and a sum over all its cells that does not depend on their order. */
export async function countTable(sql: Sql, table: string): Promise<string> {
  const [row] = await runConstant<{ found: string }>(
    sql,
    `select count(*) || ' rows, sum ' || coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)
       as found from ${table} t`,
  );
  return must(row, 'one row').found;
}

/** The stored records of all people by id, some at a time, with the handles that they gave up. */
export function readStoredPersons(
  sql: Sql,
): AsyncIterable<{ record: string; former: string[] | null }[]> {
  return sql<{ record: string; former: string[] | null }[]>`
    select r.record, (
      select array_agg(value) from person_identifiers
      where person_id = r.id and kind = ${personIdentifierCodes.former_handle}) as former
    from person_records r order by r.id`.cursor(2_000);
}
