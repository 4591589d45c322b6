/** How much work it is to decide which records are the same. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { inTransaction, type Sql } from '../../db/client.ts';
import { entityCodes } from '../source-entities.ts';
import { settleTouched } from './settle.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('people of several sources are decided once, though all of their records are contested', async () => {
  const { sql } = database;
  // More than are decided in one round.
  await sql`
    insert into source_records (number, source, key, entity, id, import_id, as_of, hash, record)
    overriding system value
    select s * 2000 + p, 'source' || s, p::text, ${entityCodes.person}, 1000000000000 + p, 0, '2026-01-01', '',
      '{"name": "Ada"}'
    from generate_series(1, 2000) p, generate_series(0, 3) s`;
  await sql`
    insert into source_keys (value, is_reference, number)
    select 'email:p' || r.key || '@acme.example', false, r.number from source_records r`;
  let rounds = 0;
  await inTransaction(sql, async (tx) => {
    const counted = new Proxy(tx, {
      apply(target, self, given) {
        if (String(given[0]).includes('recursive connected')) rounds += 1;
        return Reflect.apply(target, self, given);
      },
    }) as Sql;
    await tx`create temp table touched on commit drop as
      select number, entity, id from source_records where source = 'source3'`;
    await tx`create temp table values_before on commit drop as
      select value, is_reference from source_keys`;
    await settleTouched(counted, 0);
  });
  expect(rounds).toBe(1);
});
