import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { filesOf, noRejects, sourceInput } from '../../../tests/support/source-input.ts';
import { importSource } from '../graph/sources/import-source.ts';
import { enrichMany } from './enrich-many.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

async function load(source: string, asOf: string, email: string): Promise<void> {
  const record = { name: 'Ada', surname: 'Lark', email };
  const rows = filesOf([{ entity: 'person', key: 'a', record }]);
  await importSource(database.sql, sourceInput({ source, asOf, rows }), { rejects: noRejects() });
}

it('a record that a caller chose is matched when an import has joined it with another meanwhile', async () => {
  const { sql } = database;
  await load('crm', '2026-01-01', 'ada@home.example');
  await load('partners', '2026-01-01', 'ada@acme.example');
  const people = await sql<{ id: number }[]>`select id from persons order by id`;
  await load('partners', '2026-01-02', 'ada@home.example');
  const rows = people.map(({ id }) => ({ identifiers: [], invalid: null, decided: id }));
  const outcomes = await enrichMany(sql, 'people.enrich', rows);
  expect(outcomes.map(({ status, by, id }) => [status, by, id])).toEqual([
    ['matched', 'decision', people[0]?.id],
    ['matched', 'decision', people[0]?.id],
  ]);
});
