/** A batch of new records takes a shorter path than others; the result must be the same. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { importGraph } from '../../../../tests/support/graph.ts';
import { smallGraph } from '../../../../tests/support/small-graph.ts';
import type { Database } from '../../db/client.ts';
import { must } from '../../lib/assert.ts';
import { suppress } from '../../suppression/suppress.ts';
import { deletePersons } from '../delete-persons.ts';
import { importValues } from './import-harness.test-suite.ts';

const databases: TestDatabase[] = [];
let fresh: Database;
let filled: Database;

beforeAll(async () => {
  for (let made = 0; made < 2; made++) databases.push(await createTestDatabase());
  [fresh, filled] = databases.map(({ sql }) => sql) as [Database, Database];
});
afterAll(() => Promise.all(databases.map((database) => database.drop())));

const tables = [
  ...['persons', 'person_identifiers', 'person_records', 'person_briefs', 'person_search'],
  ...['companies', 'company_identifiers', 'company_records', 'lookup_values', 'lookup_words'],
  ...['countries', 'regions', 'cities', 'industries', 'positions'],
  ...['person_name_keys', 'keyed_persons', 'company_name_keys', 'keyed_companies'],
];

/** Everything that an import writes. */
async function contents(sql: Database): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of tables) {
    const rows = await sql<{ row: string }[]>`
      select t::text as row from ${sql(table)} t order by row`;
    found[table] = rows.map(({ row }) => row);
  }
  const officers = await sql<{ row: string }[]>`
    select concat_ws('|', company_id, name, role, appointed_on, person_id) as row
    from officers order by row`;
  const suppressed = await sql<{ row: string }[]>`
    select person_id::text as row from suppressed_persons order by 1`;
  const rowsOf = (list: { row: string }[]) => list.map(({ row }) => row);
  return { ...found, officers: rowsOf(officers), suppressed: rowsOf(suppressed) };
}

/** The last have all kinds of names, also one that only an identifier keeps, and all that their records escape. */
const companies = [
  ...smallGraph.companies,
  {
    id: 9_000,
    name: 'Zeta & Söhne GmbH',
    aliases: ['Ωmega Zeta', 'Zeta Limited', 'Àlpha Zeta'],
    formerNames: ['Old Zeta Co', ''],
    secName: 'ZETA WORKS CORP /DE/',
    domains: ['zeta.example'],
  },
  {
    id: 9_001,
    createdAt: '1999-12-31T23:59:59.9+02:00',
    name: 'Tab\tLine\nReturn\rBack\\slash "Quote" {Brace} \\N',
    aliases: ['a"b', 'c\\d', 'e\tf\ng\rh', '\\n', '\\"', 'i,j', '{k}', 'null', ' ', '\u007f', '😀'],
    formerNames: [],
    sicCodes: ['62010'],
    employees: 0,
    founded: '\\N',
    summary: '\t',
    cityId: 80,
    cities: {
      id: 80,
      name: 'St. "John\'s"\t\\',
      countryId: 3,
      countries: { id: 3, name: 'Land\\n' },
    },
    countryId: 3,
    industryId: 4,
    industries: { id: 4, name: 'Öl & "Gas"' },
  },
  {
    id: 8_999,
    name: 'Shows what has no name',
    cityId: 81,
    countryId: 99,
    industryId: 98,
    regionId: 97,
  },
];
/** Every third person lives in a city and has a trade, so that there is something to count. */
const persons = smallGraph.persons.map((person, index) => ({
  ...person,
  ...(index % 3 === 0 ? { cityId: 40 + index, industryId: 7, positionId: 30 } : {}),
  ...(index % 3 === 0 ? { cities: { id: 40 + index, name: `City ${index}`, countryId: 1 } } : {}),
  ...(index % 3 === 0 ? { industries: { id: 7, name: 'Mining' }, position: 'Miner' } : {}),
}));

test('records have the same result whether all of them are new or some were stored before', async () => {
  const other = { name: 'Other', email: 'other@other.example', positionId: 9, position: 'Other' };
  for (const sql of [fresh, filled]) await suppress(sql, 'out@home.example');
  // The first record of each file is stored under another name.
  const [company, person] = [must(companies[0], 'company'), must(persons[0], 'person')];
  await importGraph(filled, { companies: [{ ...company, ...other, directors: [] }] });
  await importGraph(filled, { persons: [{ ...person, ...other }] });
  for (const sql of [fresh, filled]) await importGraph(sql, { companies, persons });

  const expected = await contents(filled);
  expect(expected.persons).toHaveLength(persons.length);
  expect(expected.suppressed).not.toEqual([]);
  const isOther = (row: string) => /other/i.test(row) || /^\((1,)?9,/.test(row);
  // The title of the other record stays in the tables of names, without holders.
  const left = ['positions', 'lookup_values', 'lookup_words'];
  for (const table of left) expected[table] = (expected[table] ?? []).filter((r) => !isOther(r));
  expect(await contents(fresh)).toEqual(expected);
});

test('the same records again change nothing', async () => {
  const files = { companies, persons };
  for (const entity of ['companies', 'persons'] as const) {
    const again = await importValues(fresh, entity, files[entity], '2030-01-01T00:00:00Z');
    expect(again).toMatchObject({ inserted: 0, updated: 0, unchanged: files[entity].length });
  }
});

test('nothing is left by which a deleted person is found by name', async () => {
  const ids = persons.map(({ id }) => id);
  await deletePersons(fresh, ids);
  const left = await fresh`
    select key from person_name_keys union all select unnest(keys) from keyed_persons`;
  expect([...left]).toEqual([]);
});
