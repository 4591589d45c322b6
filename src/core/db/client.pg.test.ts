/** Values arrive in Postgres, and come back, as they are in the type map. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function echo(values: readonly (number | null)[]): Promise<unknown> {
  const [row] = await database.sql<{ values: unknown; count: number }[]>`
    select given as values, cardinality(given) as count from (select ${[...values]}::bigint[]) g (given)`;
  expect(row?.count).toBe(values.length);
  return row?.values;
}

test('an array of whole numbers is the same in both directions', async () => {
  for (const values of [[], [0], [null], [1, null, -7, 2 ** 53 - 1, -(2 ** 53) + 1]]) {
    expect(await echo(values)).toEqual(values);
  }
});

test('a number of an array that a double cannot hold is refused', async () => {
  await expect(database.sql`select array[1, 9007199254740993]::bigint[] as values`).rejects.toThrow(
    'is not exact',
  );
});
