/** The examples of docs/search-guide.md find people in a graph whose countries are named only by its people. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { packageRoot } from '../lib/package-root.ts';
import { compileSearch } from './compile.sql.ts';
import { parseFilter } from './parse.ts';
import { prepareFilter } from './prepare.ts';

const owner = { accountId: '01900000-0000-7000-8000-000000000000', live: true };
const now = new Date('2026-06-01T00:00:00Z');

/** Parameters of a page or an export, which are no filter. */
const pageParameters = /^(hold|partial|sort)=/;

/** The filters in quotation marks after `enrich`, and those in the table. */
function examplesOf(guide: string): string[] {
  const commands = [...guide.matchAll(/enrich (?:search|export|schedule create) '([^']+)'/g)];
  const spans = [...guide.matchAll(/`([\w.]+=[^`]+)`/g)];
  const written = [...commands, ...spans].map(([, filter = '']) => filter);
  return [...new Set(written)].filter((filter) => !pageParameters.test(filter));
}

const guide = readFileSync(path.join(packageRoot, 'docs', 'search-guide.md'), 'utf8');
const examples = examplesOf(guide).map((filter) => filter.replaceAll('\\|', '|'));

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  const places = [
    { cityId: 41, countryId: 232, regionId: 2336, locality: 'London, England, United Kingdom' },
    { cityId: 42, countryId: 75, regionId: 4796, locality: 'Paris, Île-de-France, France' },
    { cityId: 43, countryId: 233, regionId: 1456, locality: 'Austin, Texas, United States' },
    { cityId: 44, countryId: 82, regionId: 3010, locality: 'Berlin, Berlin, Deutschland' },
  ];
  await importGraph(database.sql, {
    companies: [{ id: 17, name: 'Alnadex Solutions', headCount: '50-249' }],
    industries: [{ id: 3, name: 'Banking' }],
    cities: [
      { id: 41, name: 'London', countryId: 232 },
      { id: 42, name: 'Paris', countryId: 75 },
    ],
    persons: places.map((place, index) => ({
      ...place,
      id: index + 1,
      createdAt: '2026-11-20T08:00:00',
      whenUpdated: '2026-11-20T08:00:00',
      gender: index === 0 ? 'female' : 'male',
      position: 'Accountant',
      positionId: 111,
      industryId: 3,
      companyId: 17,
      birthYear: 1980,
      inferredSalary: '45,000-55,000',
      inferredYearsExperience: index === 0 ? 2 : 7,
      skills: 'Kafka, Airflow',
      email: `p${index}@home.example`,
      workEmail: `p${index}@work.example`,
      mobile: '+447700900001',
      school: 'University',
      postcode: 'EC1A 1BB',
      ...(index === 1 ? { twitter: 'paris' } : {}),
    })),
  });
});
afterAll(() => database.drop());

async function find(query: string): Promise<number[]> {
  const { sql } = database;
  const prepared = await prepareFilter(sql, parseFilter(query), owner, now);
  const rows = await sql<{ id: number }[]>`
    select s.id from person_search s where ${compileSearch(sql, prepared)} order by s.id`;
  return rows.map(({ id }) => id);
}

test('the guide has examples', () => {
  expect(examples.length).toBeGreaterThan(20);
});

test.each(examples)('%s finds people', async (filter) => {
  expect(await find(filter)).not.toEqual([]);
});

describe('a country that only localities name is found', () => {
  test.each([
    ['London:GB', 1],
    [':UK', 1],
    [':England', 1],
    [':Großbritannien', 1],
    [':united kingdom', 1],
    [':FR', 2],
    [':Frankreich', 2],
    [':US', 3],
    [':USA', 3],
    [':Vereinigte Staaten', 3],
    [':DE', 4],
    [':Germany', 4],
    [':Deutschland', 4],
  ])('as %s', async (place, id) => {
    expect(await find(`locationList=${encodeURIComponent(`[${place}]`)}`)).toEqual([id]);
  });
});
