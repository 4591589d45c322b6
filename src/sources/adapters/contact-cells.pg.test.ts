/** Cells of exports that people, spreadsheets and programs have filled: those without a value, and shortened IDs. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { countRows, csvOf, importText } from '../import-files.test-suite.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database?.drop());

const load = (name: string, text: string) =>
  importText(database.sql, { source: 'auto', name, text, asOf: '2026-01-01' });

it('a contact who opted out hides no one else whose cells are as empty as theirs', async () => {
  const header = [
    'Record ID',
    'First Name',
    'Last Name',
    'Email',
    'LinkedIn URL',
    'Unsubscribed from all email',
  ];
  const contact = (id: string, profile: string, optOut = '') => ({
    'Record ID': id,
    'First Name': 'Ada',
    'Last Name': `Lark ${id}`,
    Email: `${id}@acme.example`,
    'LinkedIn URL': profile,
    'Unsubscribed from all email': optOut,
  });
  const none = ['-', 'nan', 'none', 'no', '0'];
  const report = await load(
    'contacts.csv',
    csvOf(header, [
      ...none.map((cell, place) => contact(`a${place}`, cell)),
      ...none.map((cell, place) => contact(`b${place}`, cell, 'true')),
    ]),
  );
  expect(report).toMatchObject({ rows: 10, new: 5, suppressed: 5 });
  expect(await countRows(database.sql, 'suppressed_persons')).toBe(0);
  const profiles = await database.sql`select distinct professional_network as profile from persons`;
  expect(profiles).toEqual([{ profile: '' }]);
});

it('a file of another system with the columns of a Salesforce report is not taken for one', async () => {
  const text = 'Contact ID,First Name,Last Name,Email\n17,Ada,Lark,a@acme.example\n';
  await expect(load('contacts.csv', text)).rejects.toMatchObject({ code: 'unknown_source' });
});

it('an ID that a spreadsheet has shortened is the key of no record, and of no list', async () => {
  const shortened = '1.76543E+11';
  const contacts = csvOf(
    ['Record ID', 'First Name', 'Last Name', 'Email'],
    ['a', 'b'].map((name) => ({
      'Record ID': shortened,
      'First Name': name,
      Email: `${name}@x.example`,
    })),
  );
  expect(await load('contacts.csv', contacts)).toMatchObject({ rows: 2, rejected: 2 });
  const companies = csvOf(
    ['Record ID', 'Company name', 'Company Domain Name'],
    ['Acme', 'Bolt'].map((name) => ({ 'Record ID': shortened, 'Company name': name })),
  );
  expect(await load('companies.csv', companies)).toMatchObject({ rows: 2, rejected: 2 });
  const list = csvOf(
    ['Record ID - Contact', 'First Name', 'Last Name'],
    ['a', 'b'].map((name) => ({ 'Record ID - Contact': shortened, 'First Name': name })),
  );
  const { rejects } = await load('list.csv', list);
  expect(rejects.map(({ reason }) => reason)).toEqual(['digits_lost', 'digits_lost']);
});
