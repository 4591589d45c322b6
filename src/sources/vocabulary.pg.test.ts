/** Titles, industries and places of sources that have no ids for them: the lookups know them, and their filters find them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import type { Database } from '../core/db/client.ts';
import {
  importValues,
  readCompany,
  readPerson,
} from '../core/graph/import/import-harness.test-suite.ts';
import { showSources } from '../core/graph/sources/show-sources.ts';
import { countryIdOf, DERIVED_ID_MIN, derivedId } from '../core/graph/vocabulary/derived-ids.ts';
import { must } from '../core/lib/assert.ts';
import { type LookupType, lookUp, lookupKinds } from '../core/lookups/look-up.ts';
import { parseFilter } from '../core/search/parse.ts';
import { prepareFilter } from '../core/search/prepare.ts';
import { countPeople } from '../core/search/search.sql.ts';
import { findUnknownValues } from '../core/search/unknown-values.ts';
import { companyOf, csvOf, importText, personOf } from './import-files.test-suite.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const owner = { accountId: '01900000-0000-7000-8000-000000000000', live: true };

async function count(sql: Database, filter: string): Promise<number> {
  const [name = '', value = ''] = filter.split('=');
  const parsed = parseFilter(`${name}=${encodeURIComponent(value)}`);
  return countPeople(sql, await prepareFilter(sql, parsed, owner));
}

const companyHeader = [
  'Record ID',
  'Company name',
  'Company Domain Name',
  'City',
  'Country/Region',
  'Industry',
];
const contactHeader = [
  'Record ID',
  'First Name',
  'Last Name',
  'Email',
  'Job Title',
  'City',
  'Country/Region',
  'Associated Company IDs',
];

const companies = (industry = 'COMPUTER_SOFTWARE') =>
  csvOf(companyHeader, [
    {
      'Record ID': '7',
      'Company name': 'Acme',
      'Company Domain Name': 'acme.example',
      City: 'ZÜRICH',
      'Country/Region': 'Switzerland',
      Industry: industry,
    },
    {
      'Record ID': '8',
      'Company name': 'Bolt',
      'Company Domain Name': 'bolt.example',
      Industry: 'Oil & Gas',
    },
  ]);
const spellings = [
  ['Senior Software Engineer', 'Zürich', 'CH'],
  ['software engineer', 'ZURICH', 'Schweiz'],
  ['Software Engineer II', 'Zürich, Switzerland', 'Suisse'],
  ['Finance Director', 'London', 'UK'],
  ['Director of Finance', 'LONDON', 'United Kingdom'],
];
const contacts = (each = 6) =>
  csvOf(
    contactHeader,
    spellings.flatMap(([title = '', city = '', country = ''], place) =>
      Array.from({ length: each }, (_, index) => ({
        'Record ID': String(place * 100 + index),
        'First Name': 'Ada',
        'Last Name': `Lark${place}x${index}`,
        Email: `ada${place}x${index}@mail${place}x${index}.example`,
        'Job Title': title,
        City: city,
        'Country/Region': country,
        'Associated Company IDs': index % 2 === 0 ? '7' : '8',
      })),
    ),
  );

const load = (name: string, text: string, asOf = '2026-10-01') =>
  importText(database.sql, { source: 'hubspot', name, text, asOf });

const fieldOf: Partial<Record<LookupType, string>> = {
  position: 'positionId',
  city: 'cityId',
  industry: 'industryId',
  country: 'countryId',
};
const parameterOf: Partial<Record<LookupType, string>> = {
  position: 'positionIds',
  city: 'locationIds',
  industry: 'industryIds',
  country: 'countryId',
};

/** All values with ids of all lookups, by name. */
async function vocabularyOf(sql: Database) {
  const kinds = await Promise.all(
    lookupKinds.map((kind) => lookUp(sql, kind, { text: '', limit: 100 })),
  );
  return kinds.flat().filter(({ id }) => id !== null);
}

async function recordsOf(sql: Database): Promise<Record<string, unknown>[]> {
  const rows = await sql<{ id: number }[]>`select id from persons order by id`;
  return Promise.all(rows.map(async ({ id }) => must(await readPerson(sql, id), 'person')));
}

describe('an import of a source without ids', () => {
  it('fills the lookups, and the filter of each value finds exactly the people who have it', async () => {
    const { sql } = database;
    await load('companies.csv', companies());
    await load('contacts.csv', contacts());
    const values = await vocabularyOf(sql);
    expect(
      values.map(({ type, name, count: people }) => `${type} ${name} ${people}`).sort(),
    ).toEqual([
      'city London, United Kingdom 12',
      'city Zürich, Switzerland 18',
      'country Switzerland 18',
      'country United Kingdom 12',
      'industry Computer Software 15',
      'industry Oil and Gas 15',
      'position Finance Director 12',
      'position Software Engineer 18',
    ]);
    const records = await recordsOf(sql);
    for (const { type, id } of values) {
      const having = records.filter((record) => record[fieldOf[type] ?? ''] === id).length;
      expect([type, id, await count(sql, `${parameterOf[type]}=[${id}]`)]).toEqual([
        type,
        id,
        having,
      ]);
      expect(having).toBeGreaterThan(0);
    }
    expect(await count(sql, 'locationList=[zurich:ch]')).toBe(18);
    expect(await count(sql, 'positionList=[director of finance]')).toBe(6);
    // The name of a family is that of its people, whatever their own words; `position` is these words alone.
    expect(await count(sql, 'positionList=[finance director]')).toBe(12);
    expect(await count(sql, 'position=finance director')).toBeLessThan(12);
    expect(await count(sql, 'industryList=[Oil and Gas]')).toBe(15);
    expect(records[0]).toMatchObject({
      position: 'Senior Software Engineer',
      positionId: derivedId('positions', 'software engineer'),
      positions: { id: derivedId('positions', 'software engineer'), name: 'Software Engineer' },
      cities: { name: 'Zürich', countryId: countryIdOf('CH'), countries: { name: 'Switzerland' } },
    });
  });

  it('gives the same ids and names in any order of the files', async () => {
    const other = await createTestDatabase();
    try {
      await load('companies.csv', companies());
      await load('contacts.csv', contacts());
      for (const [name, text] of [
        ['contacts.csv', contacts()],
        ['companies.csv', companies()],
      ] as const) {
        await importText(other.sql, { source: 'hubspot', name, text, asOf: '2026-10-01' });
      }
      const sorted = async (sql: Database) =>
        (await vocabularyOf(sql)).sort((a, b) => (a.name < b.name ? -1 : 1));
      expect(await sorted(other.sql)).toEqual(await sorted(database.sql));
    } finally {
      await other.drop();
    }
  });

  it('tells no title that fewer than ten people have', async () => {
    const { sql } = database;
    await load('contacts.csv', contacts(3));
    expect(await lookUp(sql, 'job-titles', { text: '', limit: 10 })).toEqual([]);
    const id = derivedId('positions', 'software engineer');
    for (const filter of [
      `positionIds=[${id}]`,
      'positions.name=[Software Engineer]',
      'positions.name=[Sword Swallower]',
    ]) {
      const [parameter = ''] = filter.split('=');
      expect(
        await findUnknownValues(sql, parseFilter(filter.replaceAll(' ', '%20'))),
      ).toMatchObject([{ parameter }]);
    }
    await load('contacts.csv', contacts(4), '2026-10-02');
    expect(await lookUp(sql, 'job-titles', { text: '', limit: 10 })).toMatchObject([
      { id, count: 12 },
    ]);
    await load('contacts.csv', contacts(4).replaceAll(/software engineer/gi, 'Cook'), '2026-10-03');
    expect(await lookUp(sql, 'job-titles', { text: '', limit: 10 })).toMatchObject([
      { name: 'Cook' },
    ]);
    expect([...(await sql`select word from lookup_words where kind = 1`)]).toEqual([
      { word: 'cook' },
    ]);
  });

  it('gives people the industry of their company, with its origin, until the company has another', async () => {
    const { sql } = database;
    await load('contacts.csv', contacts(1));
    await load('companies.csv', companies());
    const person = await personOf(sql, 'hubspot', '0');
    const shown = await showSources(sql, 'person', Number(person?.id));
    expect(shown.record).toMatchObject({ industries: { name: 'Computer Software' } });
    expect(shown.values).toMatchObject({
      industryId: [{ source: 'hubspot', key: '0' }],
      positionId: [{ source: 'hubspot', key: '0' }],
      cities: [{ source: 'hubspot', key: '0' }],
    });
    await load('companies.csv', companies('Banking'), '2026-10-02');
    expect((await showSources(sql, 'person', Number(person?.id))).record).toMatchObject({
      industries: { name: 'Banking' },
    });
  });

  it('takes the industry of a register before that of a CRM', async () => {
    const { sql } = database;
    await importValues(sql, 'companies', [
      { id: 5, name: 'Acme', domain: 'acme.example', sicCodes: ['64191'], registryCountry: 'GB' },
    ]);
    await load('companies.csv', companies());
    expect(await readCompany(sql, 5)).toMatchObject({ industries: { name: 'Financial Services' } });
  });

  it('takes city and country from one source', async () => {
    const { sql } = database;
    const less = companies().replace('ZÜRICH', '');
    await load('companies.csv', less);
    const id = 'A'.repeat(28);
    const row = { id, website: 'acme.example', name: 'acme', locality: 'oslo', country: 'norway' };
    await importText(sql, { source: 'pdl', name: 'a.json', text: JSON.stringify(row) });
    const company = await companyOf(sql, 'pdl', id);
    expect(await readCompany(sql, Number(company?.id))).toMatchObject({
      name: 'Acme',
      cities: { name: 'Oslo' },
      countries: { name: 'Norway' },
    });
  });
});

describe('a file with ids of one’s own', () => {
  const person = { id: 1, name: 'Ada', surname: 'Lark', position: 'Head of Sales' };

  it('keeps them, and gets the others', async () => {
    const { sql } = database;
    await importValues(sql, 'persons', [
      { ...person, positionId: 3, locality: 'Irondale, Alabama, United States', countryId: 233 },
    ]);
    expect(await readPerson(sql, 1)).toMatchObject({
      positionId: 3,
      positions: { name: 'Head of Sales' },
      countryId: 233,
      countries: { name: 'United States' },
      cities: { name: 'Irondale', countries: { id: countryIdOf('US'), name: 'United States' } },
    });
  });

  it('cannot bring an id of the derived ones', async () => {
    const { sql } = database;
    const id = derivedId('positions', 'sales');
    const rows = [{ id, name: 'Cook' }];
    expect(await importValues(sql, 'positions', rows)).toMatchObject({
      rejects: [{ reason: 'reserved_id', field: 'id' }],
    });
    const given = {
      ...person,
      positionId: DERIVED_ID_MIN,
      positions: { id: DERIVED_ID_MIN, name: 'Cook' },
    };
    expect(await importValues(sql, 'persons', [given])).toMatchObject({
      inserted: 1,
      droppedValues: { positionId: 1 },
    });
    expect(await readPerson(sql, 1)).toMatchObject({ positions: { id, name: 'Sales' } });
  });

  it('can be an export of the graph, which changes nothing', async () => {
    const { sql } = database;
    const city = { locality: 'Irondale, Alabama, United States' };
    await importValues(sql, 'persons', [{ ...person, ...city, industry: 'Oil & Gas' }]);
    await importValues(sql, 'companies', [
      { id: 2, name: 'Acme', sicCodes: ['62020'], registryCountry: 'GB' },
    ]);
    const exported = must(await readPerson(sql, 1), 'person');
    expect(exported).toMatchObject({
      industries: { name: 'Oil and Gas' },
      cities: { name: 'Irondale' },
    });
    const report = await importValues(sql, 'persons', [exported]);
    expect(report).toMatchObject({ unchanged: 1, droppedValues: {} });
    const company = await readCompany(sql, 2);
    expect(company).toMatchObject({ industries: { name: 'Software and IT Services' } });
    expect(await importValues(sql, 'companies', [company])).toMatchObject({
      unchanged: 1,
      droppedValues: {},
    });
  });

  it('spells a value with its accents, whichever row comes first', async () => {
    const { sql } = database;
    const name = async () =>
      (await sql<{ name: string }[]>`select name from positions`).map((row) => row.name);
    await importValues(sql, 'persons', [{ ...person, position: 'CHARGE DE MISSION' }]);
    expect(await name()).toEqual(['Charge de Mission']);
    await importValues(sql, 'persons', [
      { ...person, id: 2, position: 'chargé de mission' },
      { ...person, id: 3, position: 'Charge de mission' },
    ]);
    expect(await name()).toEqual(['Chargé de Mission']);
    expect(await readPerson(sql, 1)).toMatchObject({ positions: { name: 'Chargé de Mission' } });
    await importValues(sql, 'persons', [{ ...person, id: 4, position: 'Charge de Mission' }]);
    expect(await name()).toEqual(['Chargé de Mission']);
  });

  it('gives no id to a value whose id another value has', async () => {
    const { sql } = database;
    const [first, second] = equalIds();
    const people = [first, second].map((position, index) => ({
      ...person,
      id: index + 1,
      position,
    }));
    const ids = async () =>
      (await sql<{ positionId: number }[]>`select position_id from persons order by id`).map(
        ({ positionId }) => positionId,
      );
    await importValues(sql, 'persons', people);
    expect(await ids()).toEqual([derivedId('positions', first.toLowerCase()), 0]);
    // In another batch, where the first value is stored.
    await importValues(sql, 'persons', people.slice(1));
    expect(await ids()).toEqual([derivedId('positions', first.toLowerCase()), 0]);
    expect([...(await sql`select name from positions`)]).toEqual([{ name: first }]);
  });
});

/** Two titles that have the same id. */
function equalIds(): [string, string] {
  const seen = new Map<number, string>();
  for (let number = 0; ; number += 1) {
    const title = `Cook${number} Baker`;
    const id = derivedId('positions', title.toLowerCase());
    const other = seen.get(id);
    if (other !== undefined) return [other, title];
    seen.set(id, title);
  }
}
