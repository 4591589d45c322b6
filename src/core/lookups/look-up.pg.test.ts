import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateGraph } from '../../../samples/generate/generate-graph.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { deletePersons } from '../graph/delete-persons.ts';
import { lookUp } from './look-up.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await importGraph(database.sql, {
    countries: [
      { id: 1, name: 'Switzerland', iso2: 'CH' },
      { id: 2, name: 'Japan', iso2: 'JP' },
    ],
    regions: [{ id: 5, name: 'Vaud', countryId: 1 }],
    cities: [
      { id: 10, name: 'Zürich', countryId: 1 },
      { id: 11, name: 'Lausanne', countryId: 1, regionId: 5 },
      { id: 12, name: 'Saint-Denis', countryId: 0 },
      { id: 13, name: '東京', countryId: 2 },
    ],
    positions: [
      { id: 20, name: 'Engineer' },
      { id: 21, name: 'Software Engineer' },
      { id: 22, name: 'Engineering Manager' },
      { id: 23, name: 'C++ Developer' },
      { id: 24, name: 'CEO/Founder' },
      { id: 25, name: 'Nobody' },
    ],
    industries: [
      { id: 30, name: 'Oil & Gas' },
      { id: 31, name: 'Groß’s Handel' },
    ],
    persons: [
      { id: 1, positionId: 21, cityId: 10, industryId: 30 },
      { id: 2, positionId: 21, cityId: 10 },
      { id: 3, positionId: 22, cityId: 11 },
      { id: 4, positionId: 22 },
      { id: 5, positionId: 20 },
      { id: 6, positionId: 23 },
      { id: 7, positionId: 24 },
    ],
  });
});
afterAll(() => database.drop());

const find = async (kind: Parameters<typeof lookUp>[1], text: string, limit = 10) =>
  (await lookUp(database.sql, kind, { text, limit })).map(({ name }) => name);

describe('the order', () => {
  test('is values that begin with the text, then values with words that do, each by people', async () => {
    expect(await find('job-titles', 'engin')).toEqual([
      'Engineering Manager',
      'Engineer',
      'Software Engineer',
    ]);
    expect(await find('job-titles', 'engin', 2)).toEqual(['Engineering Manager', 'Engineer']);
  });

  test('of an empty text is by people, values without people last', async () => {
    const values = await lookUp(database.sql, 'job-titles', { text: ' ', limit: 100 });
    expect(values.map(({ count }) => count)).toEqual([2, 2, 1, 1, 1, 0]);
    expect(values.at(-1)).toEqual({ type: 'position', id: 25, name: 'Nobody', count: 0 });
  });
});

describe('a value is found', () => {
  test.each([
    ['locations', 'ZURICH', 'Zürich, Switzerland'],
    ['locations', 'zürich', 'Zürich, Switzerland'],
    ['locations', 'vaud', 'Vaud, Switzerland'],
    ['locations', 'switz', 'Switzerland'],
    ['locations', 'lausanne, switz', 'Lausanne, Vaud, Switzerland'],
    ['locations', 'denis', 'Saint-Denis'],
    ['locations', '東', '東京, Japan'],
    ['locations', 'zuirch', 'Zürich, Switzerland'],
    ['locations', 'lausane', 'Lausanne, Vaud, Switzerland'],
    ['job-titles', 'c++', 'C++ Developer'],
    ['job-titles', 'founder', 'CEO/Founder'],
    ['job-titles', 'soft eng', 'Software Engineer'],
    ['job-titles', 'sofware enginer', 'Software Engineer'],
    ['industries', 'oil and', 'nothing'],
    ['industries', 'oil ga', 'Oil & Gas'],
    ['industries', 'GROSS', 'Groß’s Handel'],
    ['industries', "groß's", 'Groß’s Handel'],
  ] as const)('%s: %s is %s', async (kind, text, name) => {
    expect((await find(kind, text))[0]).toEqual(name === 'nothing' ? undefined : name);
  });
});

test.each(['%', '_', '\\', '!!!', '😀', 'xyzzy', 'a'.repeat(200), '% %'])(
  'the text %s finds nothing and does no harm',
  async (text) => {
    expect(await find('locations', text)).toEqual([]);
  },
);

describe('counts and names', () => {
  test('follow people who move, are added and removed, and rows that are renamed', async () => {
    const other = await createTestDatabase();
    const { sql } = other;
    const titles = () => lookUp(sql, 'job-titles', { text: '', limit: 10 });
    try {
      await importGraph(sql, {
        persons: [
          { id: 1, positionId: 7 },
          { id: 2, positionId: 7 },
        ],
      });
      expect(await titles()).toEqual([]);
      await importGraph(sql, {
        positions: [
          { id: 7, name: 'Clerk' },
          { id: 8, name: 'Cook' },
        ],
      });
      expect(await titles()).toEqual([
        { type: 'position', id: 7, name: 'Clerk', count: 2 },
        { type: 'position', id: 8, name: 'Cook', count: 0 },
      ]);
      await importGraph(sql, {
        persons: [
          { id: 1, positionId: 8 },
          { id: 3, positionId: 8 },
        ],
      });
      await importGraph(sql, { persons: [{ id: 1, positionId: 8 }] });
      await deletePersons(sql, [2]);
      await importGraph(sql, { positions: [{ id: 7, name: 'Office Clerk' }] });
      expect(await titles()).toEqual([
        { type: 'position', id: 8, name: 'Cook', count: 2 },
        { type: 'position', id: 7, name: 'Office Clerk', count: 0 },
      ]);
      expect(await lookUp(sql, 'job-titles', { text: 'office', limit: 1 })).toHaveLength(1);
      await importGraph(sql, { positions: [{ id: 7, name: 'Clerk' }] });
      expect(await lookUp(sql, 'job-titles', { text: 'office', limit: 1 })).toEqual([]);
    } finally {
      await other.drop();
    }
  });

  test('of a region or country reach the cities in it', async () => {
    await importGraph(database.sql, { countries: [{ id: 2, name: 'Nippon', iso2: 'JP' }] });
    expect(await find('locations', 'nippon')).toEqual(['Nippon', '東京, Nippon']);
    expect(await find('locations', 'japan')).toEqual([]);
  });

  test('equal a full recount after any import', async () => {
    const kept = await database.sql`
      select kind, id, name, people from lookup_values where name <> '' or people <> 0
      order by kind, id`;
    await database.sql`select rebuild_lookups()`;
    const counted = await database.sql`
      select kind, id, name, people from lookup_values order by kind, id`;
    expect([...kept]).toEqual([...counted]);
  });

  test('of titles in people’s own words begin at ten people, and end below', async () => {
    const other = await createTestDatabase();
    const { sql } = other;
    const people = (count: number, position: string) =>
      Array.from({ length: count }, (_, index) => ({ id: index + 1, position }));
    const titles = () => lookUp(sql, 'job-titles', { text: '', limit: 10 });
    // Too many words for a family of titles.
    const senator = 'State Senator of the Far North and the West';
    try {
      await importGraph(sql, { persons: people(9, senator) });
      expect(await titles()).toEqual([]);
      await importGraph(sql, { persons: people(10, senator) });
      const senators = { type: 'title', id: null, name: senator, count: 10 };
      expect(await titles()).toEqual([senators]);
      expect(await lookUp(sql, 'job-titles', { text: 'senatr', limit: 1 })).toEqual([senators]);
      await importGraph(sql, { persons: people(12, senator.toUpperCase()) });
      expect(await titles()).toEqual([{ ...senators, count: 12 }]);
      await importGraph(sql, { persons: people(3, 'Governor') });
      expect(await titles()).toEqual([]);
      expect([...(await sql`select * from lookup_words`)]).toEqual([]);
    } finally {
      await other.drop();
    }
  });

  test('are present in a generated graph', async () => {
    const other = await createTestDatabase();
    try {
      await generateGraph(other.sql, { persons: 500, companies: 20, seed: 3 });
      const [top] = await lookUp(other.sql, 'locations', { text: '', limit: 1 });
      const [row] = await other.sql<{ people: number }[]>`
        select count(*) as people from persons where country_id = ${top?.id ?? 0}`;
      expect(top?.type).toBe('country');
      expect(top?.count).toBe(row?.people);
      expect(top?.count).toBeGreaterThan(1);
    } finally {
      await other.drop();
    }
  });
});
