/** COPY in the binary format stores the numbers that it is given. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { inTransaction } from './client.ts';
import { copyBigints } from './copy-into.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('stores numbers and arrays of any size exactly, also those longer than a piece', async () => {
  const numbers = [0, 1, -1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, -(2 ** 32), 2 ** 51 + 5, 2 ** 53 - 1];
  const long = Array.from({ length: 50_000 }, (_, index) => index * 2 ** 32 + 7);
  const rows: [number, readonly number[]][] = [
    ...numbers.map((number): [number, number[]] => [number, numbers]),
    [-(2 ** 53) + 1, []],
    [2, long],
    ...Array.from({ length: 20_000 }, (_, index): [number, number[]] => [10 + index, [index]]),
  ];
  const stored = await inTransaction(database.sql, async (tx) => {
    await tx`create temp table held (id bigint, list bigint[]) on commit drop`;
    const ids = Float64Array.from(rows, ([id]) => id);
    const lists = rows.map(([, list]) => list);
    await copyBigints(tx, { table: 'held', columns: ['id', 'list'] }, [ids, lists]);
    return tx<{ id: number; list: string }[]>`
      select id, coalesce(array_to_string(list, ' '), '') as list from held order by ctid`;
  });
  expect(stored.map(({ id, list }) => [id, list])).toEqual(
    rows.map(([id, list]) => [id, list.join(' ')]),
  );
});
