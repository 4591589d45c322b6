/** A build writes the name keys of some parts together, later than their companies; none may be lost or stale. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { filesOf, noRejects, sourceInput } from '../../../tests/support/source-input.ts';
import type { Sql } from '../db/client.ts';
import { importValues } from './import/import-harness.test-suite.ts';
import { KeysToWrite } from './keys-to-write.ts';
import { type Keyed, keysOfCompany } from './name-keys.sql.ts';
import { finishImport, importSource } from './sources/import-source.ts';
import type { SourceRecord } from './sources/source-record.ts';
import { writeGraph } from './write-graph.ts';

let database: TestDatabase;
let sql: TestDatabase['sql'];
beforeAll(async () => {
  database = await createTestDatabase();
  sql = database.sql;
});
beforeEach(async () => {
  await sql`truncate companies, company_identifiers, company_records, company_name_keys, keyed_companies,
    source_records, source_keys, imports, company_keys_to_write`;
});
afterAll(() => database.drop());

const names = ['Acme Widgets Ltd', 'Borealis Shipping Ltd', 'Cobalt Mining Ltd'];

const companies = names.map((name, index): SourceRecord => {
  const key = `0000000${index + 1}`;
  const record = { name, registryNumber: key, registryCountry: 'GB' };
  return { entity: 'company', key, record };
});
const input = sourceInput({ source: 'gb-companies', rows: filesOf(companies) });

/** The names whose keys are stored, by company, in both tables of keys. */
async function keyedNames(known: readonly string[] = names): Promise<(string | undefined)[]> {
  const rows = await sql<{ keys: string; found: string }[]>`
    select array_to_string(k.keys, ' ') as keys, (
      select string_agg(f.key::text, ' ' order by f.key) from company_name_keys f where f.company_id = k.id) as found
    from companies c join keyed_companies k on k.id = c.id order by c.name`;
  const lookedUp = (keys: readonly number[]) => keys.filter((key) => key % 8 === 4);
  return rows.map(({ keys, found }) =>
    known.find((name) => {
      const own = keysOfCompany([name]);
      const inOrder = lookedUp(own).sort((a, b) => a - b);
      return own.join(' ') === keys && inOrder.join(' ') === found;
    }),
  );
}

/** Imports companies with ids, and takes their keys away: they are as the parts of a build leave them. */
async function importWithoutKeys(): Promise<Keyed[]> {
  const companies = names.map((name, index) => ({ id: index + 1, name }));
  await importValues(sql, 'companies', companies);
  await sql`truncate company_name_keys, keyed_companies`;
  return companies.map(({ id, name }) => ({ id, keys: keysOfCompany([name]) }));
}

const add = (keys: KeysToWrite, companies: readonly Keyed[]) =>
  writeGraph(sql, (tx: Sql) => keys.add(tx, companies));
const noted = () => sql`select from company_keys_to_write`;

it('an import writes the keys of its companies, and leaves nothing to write', async () => {
  await importSource(sql, input, { rejects: noRejects() });
  expect(await keyedNames()).toEqual(names);
  expect(await noted()).toHaveLength(0);
});

it('keys that an import did not write before it died are written by the next build', async () => {
  await sql.unsafe(`
    create function graph.dies() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$;
    create trigger dies before insert on graph.keyed_companies for each row execute function graph.dies();`);
  await expect(importSource(sql, input, { rejects: noRejects() })).rejects.toThrow('killed');
  await sql`drop function graph.dies() cascade`;
  expect(await sql`select from companies`).toHaveLength(names.length);
  expect(await keyedNames()).toEqual([]);
  await finishImport(sql, () => {});
  expect(await keyedNames()).toEqual(names);
  expect(await noted()).toHaveLength(0);
  expect(await sql`select state from imports`).toMatchObject([{ state: 'done' }]);
});

it('a company that another writer renamed or deleted meanwhile keeps what that writer left', async () => {
  const companies = await importWithoutKeys();
  const keys = new KeysToWrite();
  await add(keys, companies);
  await importValues(sql, 'companies', [{ id: 1, name: 'Dorado Fishing Ltd' }]);
  await sql`delete from companies where id = 2`;
  await keys.write(sql);
  expect(await keyedNames([...names, 'Dorado Fishing Ltd'])).toEqual([
    'Cobalt Mining Ltd',
    'Dorado Fishing Ltd',
  ]);
  expect(await sql`select from keyed_companies`).toHaveLength(2);
});

it('a part whose transaction failed is not written, and parts of another process are', async () => {
  const [first, second, third] = (await importWithoutKeys()) as [Keyed, Keyed, Keyed];
  const keys = new KeysToWrite();
  await add(keys, [first]);
  const failing = writeGraph(sql, async (tx) => {
    await keys.add(tx, [second]);
    throw new Error('undone');
  });
  await expect(failing).rejects.toThrow('undone');
  await add(new KeysToWrite(), [third]);
  await keys.write(sql);
  expect(await keyedNames()).toEqual(['Acme Widgets Ltd', 'Cobalt Mining Ltd']);
});
