/** Files with ids of one's own whose import dies before the people and companies are built that it joined. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { filesOf, noRejects, sourceInput } from '../../tests/support/source-input.ts';
import { importValues } from '../core/graph/import/import-harness.test-suite.ts';
import { importSource } from '../core/graph/sources/import-source.ts';
import { countRows, withoutBuild } from './import-files.test-suite.ts';

const number = { registryNumber: '01234567', registryCountry: 'GB' };
const acme = { name: 'Acme Ltd', ...number };
const ada = { name: 'Ada', surname: 'Lark', workEmail: 'ada@acme.example' };
const ownAcme = { id: 5, name: 'Acme (own)', ...number };
const ownAda = { id: 7, ...ada, title: 'Dr.' };

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  const records = filesOf([
    { entity: 'company', key: 'acme', record: acme },
    { entity: 'person', key: 'ada', record: { ...ada, twitter: 'ada' } },
  ]);
  await importSource(database.sql, sourceInput({ rows: records }), { rejects: noRejects() });
});
afterEach(() => database?.drop());

it('are joined with the people of sources when the import is repeated', async () => {
  const { sql } = database;
  await withoutBuild(sql, () => importValues(sql, 'persons', [ownAda]));
  await importValues(sql, 'persons', [ownAda]);
  expect(await sql`select id, title, twitter from persons`).toEqual([
    { id: 7, title: 'Dr.', twitter: 'ada' },
  ]);
});

it('are joined with the companies of sources when another one follows', async () => {
  const { sql } = database;
  await withoutBuild(sql, () => importValues(sql, 'companies', [{ ...ownAcme, name: 'Acme' }]));
  await importValues(sql, 'companies', [ownAcme]);
  expect(await sql`select id, name, aliases from companies`).toEqual([
    { id: 5, name: 'Acme (own)', aliases: ['Acme Ltd'] },
  ]);
});

it('leave no one behind when a later transaction of the file parts what they joined', async () => {
  const { sql } = database;
  await withoutBuild(sql, () => importValues(sql, 'persons', [ownAda]));
  await importValues(sql, 'persons', [{ ...ownAda, id: 8 }]);
  expect(await countRows(sql, 'persons')).toBe(3);
  await importValues(sql, 'persons', [{ ...ownAda, id: 8, workEmail: 'eve@acme.example' }]);
  expect(await sql`select id, twitter from persons order by id`).toEqual([
    { id: 7, twitter: 'ada' },
    { id: 8, twitter: null },
  ]);
});
