/** Contacts of a file without ids whose address others have as well keep their records, whatever the order of the rows. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { csvOf, importText } from './import-files.test-suite.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const header = ['First Name', 'Last Name', 'E-mail Address', 'Job Title', 'Business Street'];
const contact = (name: string, surname = 'Müller', email = 'info@acme.example') => ({
  'First Name': name,
  'Last Name': surname,
  'E-mail Address': email,
});
const [anna, peter, carl] = [contact('Anna'), contact('Peter'), contact('Carl')];

let day = 0;
async function load(...contacts: Record<string, string>[]) {
  const text = csvOf(header, contacts);
  day += 1;
  const asOf = `2026-01-${String(day).padStart(2, '0')}`;
  return importText(database.sql, { source: 'outlook', name: 'contacts.csv', text, asOf });
}

async function idsByName(): Promise<Record<string, number>> {
  const rows = await database.sql<{ name: string; id: number }[]>`
    select record::json ->> 'name' as name, id from source_records where record is not null order by id`;
  return Object.fromEntries(rows.map(({ name, id }) => [name, id]));
}

it('two who share a mailbox keep their ids when the file is in another order', async () => {
  await load(anna, peter);
  const before = await idsByName();
  expect(Object.keys(before).sort()).toEqual(['Anna', 'Peter']);
  expect(await load(peter, anna)).toMatchObject({ new: 0, changed: 0, same: 2 });
  expect(await idsByName()).toEqual(before);
});

it('the first one keeps the id when a second one joins the mailbox, before or after', async () => {
  await load(anna);
  const { Anna } = await idsByName();
  expect(await load(peter, anna)).toMatchObject({ new: 1, changed: 0, same: 1 });
  expect(await idsByName()).toMatchObject({ Anna });
  expect(await load(contact('ANNA', 'Muller'), carl)).toMatchObject({ new: 1, changed: 1 });
  expect(Object.keys(await idsByName()).sort()).toEqual(['ANNA', 'Carl', 'Peter']);
});

it('a file with one of them alone changes that one', async () => {
  await load(anna, peter);
  const before = await idsByName();
  expect(await load({ ...peter, 'Job Title': 'CEO' })).toMatchObject({ new: 0, changed: 1 });
  expect(await load(carl)).toMatchObject({ new: 1, changed: 0 });
  expect(await idsByName()).toMatchObject(before);
});

it('a mailbox of one person keeps the id when the name is corrected', async () => {
  await load(contact('Ana', 'Müller', 'anna@acme.example'));
  const { Ana } = await idsByName();
  await load(contact('Anna', 'Müller', 'anna@acme.example'));
  expect(await idsByName()).toEqual({ Anna: Ana });
});
