/** The day of files decides what a later import changes: it is that of all of them, and not one to come. */
import { afterEach, beforeEach, expect, it, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { countRows, csvOf, importTexts } from './import-files.test-suite.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const contacts = (title: string) =>
  csvOf(
    ['Record ID', 'First Name', 'Last Name', 'Email', 'Job Title'],
    [
      {
        'Record ID': '1',
        'First Name': 'Ada',
        'Last Name': 'Lark',
        Email: 'ada@acme.example',
        'Job Title': title,
      },
    ],
  );
const load = (titles: Record<string, string>, asOf?: string) =>
  importTexts(database.sql, {
    source: 'hubspot',
    parts: Object.entries(titles).map(([name, title]) => [name, contacts(title)]),
    ...(asOf === undefined ? {} : { asOf }),
  });

it('files of several days are refused, and nothing is changed', async () => {
  const files = { 'contacts-2026-10-02.csv': 'CEO', 'contacts-2026-10-01.csv': 'Intern' };
  await expect(load(files)).rejects.toMatchObject({
    code: 'different_days',
    message: expect.stringContaining('contacts-2026-10-01.csv is dated 2026-10-01'),
  });
  expect(await countRows(database.sql, 'imports')).toBe(0);
});

it('files of several days are taken with one day that is given', async () => {
  const files = { 'contacts-2026-10-01.csv': 'Intern', 'contacts-2026-10-02.csv': 'CEO' };
  expect(await load(files, '2026-10-02')).toMatchObject({ rows: 2, new: 1 });
});

it('parts of one day, or without one, are one import', async () => {
  const parts = { 'a-2026-10-01-1.csv': 'Intern', 'b-20261001-2.csv': 'CEO' };
  expect(await load(parts)).toMatchObject({ rows: 2, new: 1 });
  expect(await load({ 'a.csv': 'CTO', 'b.csv': 'CTO' })).toMatchObject({ rows: 2, changed: 1 });
});

it('a month in the name of a file is its last day: one of an earlier month adds nothing', async () => {
  await load({ 'Accounts_Monthly_Data-March2025.csv': 'CEO' });
  const [first] = await database.sql`select as_of::text from imports`;
  expect(first).toEqual({ asOf: '2025-03-31' });
  expect(await load({ 'Accounts_Monthly_Data-February2024.csv': 'Intern' })).toMatchObject({
    same: 1,
  });
  const [second] =
    await database.sql`select max(as_of)::text as as_of, min(as_of)::text as first from imports`;
  expect(second).toEqual({ asOf: '2025-03-31', first: '2024-02-29' });
});

it('a file that names the present month is taken, and is of a day until today', async () => {
  const now = new Date();
  const month = now.toLocaleString('en', { month: 'long', timeZone: 'UTC' });
  await load({ [`contacts-${month}${now.getUTCFullYear()}.csv`]: 'CEO' });
  const [row] = await database.sql`select as_of <= current_date + 1 as is_past from imports`;
  expect(row).toEqual({ isPast: true });
});

test('a day to come in the name of a file is refused', async () => {
  await expect(load({ 'contacts-2096-10-01.csv': 'CEO' })).rejects.toMatchObject({
    code: 'future_day',
    message: expect.stringContaining('--as-of'),
  });
});
