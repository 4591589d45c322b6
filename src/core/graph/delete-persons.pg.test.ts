import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { deletePersons } from './delete-persons.ts';
import { importValues, readIdentifiers, readPerson } from './import/import-harness.test-suite.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('deletes people with identifiers and stored record, and unlinks officers', async () => {
  const { sql } = database;
  await importValues(sql, 'persons', [
    { id: 1, email: 'a@example.org' },
    { id: 2, email: 'b@example.org' },
  ]);
  await importValues(sql, 'officers', [{ companyId: 5, name: 'A', personId: 1 }]);
  expect(await deletePersons(sql, [1, 99])).toBe(1);
  expect(await readPerson(sql, 1)).toBeUndefined();
  expect(await readIdentifiers(sql, 'person', 1)).toEqual([]);
  const [left] = await sql`select (select count(*) from persons) as people,
    (select count(*) from officers where person_id is null) as unlinked`;
  expect(left).toEqual({ people: 1, unlinked: 1 });
  expect(await readPerson(sql, 2)).toMatchObject({ email: 'b@example.org' });
});
