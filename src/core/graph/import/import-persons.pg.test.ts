import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { emptyPerson } from '../../../../tests/support/small-graph.ts';
import {
  importValues,
  readIdentifiers,
  readPerson,
  readVersions,
} from './import-harness.test-suite.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.sql`truncate persons, person_identifiers, person_records, companies,
    company_identifiers, company_records, company_name_keys, keyed_companies, officers, countries, regions, cities, industries,
    positions, suppressed_identifiers, suppressed_persons`;
});

const createdAt = '2023-03-04T05:06:07';
const city = {
  id: 4140963,
  name: 'Washington, D.C.',
  countryId: 233,
  countries: { id: 233, name: 'United States' },
  regionId: 1437,
  regions: { id: 1437, name: 'District of Columbia' },
  createdAt: '2020-01-02T03:04:05',
};

/** Every field of the specification's table, in its order, with a value. */
const full = {
  id: 7_000_000_007,
  createdAt,
  whenUpdated: '2024-05-06T07:08:09',
  title: 'Dr',
  name: 'Zoë "Z"',
  surname: "O'Neil \\N, \u{1f600}",
  gender: 'female',
  birthDate: '1958-10-13',
  birthYear: 1958,
  domain: 'example.org',
  email: 'zoe@example.net',
  workEmail: 'z.oneil@example.org',
  professional_network: 'zoe-oneil',
  professional_networkConnections: 512,
  professional_networkStatus: 'active',
  twitter: 'ZoeONeil',
  twitterStatus: 'active',
  social_aId: '100001',
  social_aUsername: 'zoe.oneil',
  social_aStatus: 'active',
  industryId: 72,
  industries: { id: 72, name: 'Government Relations' },
  position: 'Chief\tof Staff',
  positionId: 31,
  positions: { id: 31, name: 'Chief of Staff' },
  experience: 'Analyst, 1990;\r\nChief of Staff, 2001\nnow',
  inferredSalary: '100,000-150,000',
  inferredYearsExperience: 33,
  skills: 'sql, negotiation',
  summary: 'Back\\slash',
  school: 'State University',
  profileLanguage: 'en',
  language: "['en', 'fr']",
  serviceCategories: 'consulting',
  pastCompany: 'Past Ltd',
  pastCompanyId: 11,
  pastCompanies: [
    { id: 11, name: 'Past, "Ltd"' },
    { id: 0, name: 'Unknown' },
  ],
  companyId: 5,
  company: { id: 5, name: 'Acme & Sons' },
  currentCompanyId: 5,
  currentCompanies: [{ id: 5, name: 'Acme & Sons' }],
  locality: 'Washington, District of Columbia, United States',
  locationGeo: '38.89511,-77.03637',
  street: '511 Hart Building',
  postcode: '20510',
  ipAddress: '192.0.2.1',
  cityId: city.id,
  cities: city,
  countryId: 233,
  countries: { id: 233, name: 'United States' },
  regionId: 1437,
  regions: { id: 1437, name: 'District of Columbia' },
  phone: '+12022243441',
  mobile: '+12025550123',
  phoneStatus: 'valid',
  mobileStatus: 'valid',
  emailStatus: 'valid',
  workEmailStatus: 'catch_all',
  dataSourceType: 3,
  statusType: 2,
  bounceResponseType: 1,
  profileImage: 'https://images.example/z.jpg',
  profileImageMapping: '{"w":1}',
  lastPost: 'Hello',
  lastPostDate: '2024-04-01T00:00:00',
};

/** A person with an id and nothing else. */
const empty = {
  ...emptyPerson,
  id: 1,
  createdAt: '2025-06-01T10:00:00',
  whenUpdated: '2025-06-01T10:00:00',
};

describe('answers', () => {
  it('round-trips a person with every field', async () => {
    await importValues(database.sql, 'companies', [{ id: 5, name: 'Acme & Sons' }]);
    expect(await importValues(database.sql, 'persons', [full])).toMatchObject({
      inserted: 1,
      unknownFields: {},
      droppedValues: {},
    });
    expect(JSON.stringify(await readPerson(database.sql, full.id))).toBe(JSON.stringify(full));
  });

  it('returns absent values for a person with nothing but an id', async () => {
    await importValues(database.sql, 'persons', [{ id: 1 }]);
    expect(JSON.stringify(await readPerson(database.sql, 1))).toBe(JSON.stringify(empty));
  });

  it('reads its own record of a person with nothing but an id as the same person', async () => {
    await importValues(database.sql, 'persons', [{ id: 1 }]);
    const own = await readPerson(database.sql, 1);
    expect(await importValues(database.sql, 'persons', [own])).toMatchObject({ unchanged: 1 });
  });

  it('reads the same person from CSV', async () => {
    await importValues(database.sql, 'companies', [{ id: 5, name: 'Acme & Sons' }]);
    const cells = Object.values(full).map((value) =>
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    );
    const quoted = cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');
    const text = `${Object.keys(full).join(',')}\n${quoted}\n`;
    expect(await importValues(database.sql, 'persons', text)).toMatchObject({ inserted: 1 });
    expect(await readPerson(database.sql, full.id)).toEqual(full);
  });

  it('imports its own output without a change', async () => {
    await importValues(database.sql, 'companies', [{ id: 5, name: 'Acme & Sons' }]);
    await importValues(database.sql, 'persons', [full, { id: 1 }]);
    const answers = [await readPerson(database.sql, full.id), await readPerson(database.sql, 1)];
    expect(await importValues(database.sql, 'persons', answers)).toMatchObject({ unchanged: 2 });
  });

  it('removes what a stored record cannot contain', async () => {
    await importValues(database.sql, 'persons', '{"id":1,"name":"a\\u0000\\u001fb\\u001e\\ud800"}');
    expect(await readPerson(database.sql, 1)).toMatchObject({ name: 'ab\ufffd' });
  });

  it('drops and counts an invalid phone, and keeps the person', async () => {
    const outcome = await importValues(database.sql, 'persons', [{ id: 1, phone: 'ask Bob' }]);
    expect(outcome).toMatchObject({ inserted: 1, rejected: 0, droppedValues: { phone: 1 } });
    expect(await readPerson(database.sql, 1)).toMatchObject({ phone: '' });
  });
});

describe('a second import', () => {
  it('of the same file changes nothing and writes no row version', async () => {
    const values = [
      full,
      { id: 1 },
      { id: 2, email: 'a@example.org', positionId: 4, position: 'x' },
    ];
    await importValues(database.sql, 'persons', values);
    const tables = ['persons', 'person_identifiers', 'person_records', 'cities', 'positions'];
    const read = () => Promise.all(tables.map((table) => readVersions(database.sql, table)));
    const before = await read();
    expect(
      await importValues(database.sql, 'persons', values, '2026-01-01T00:00:00Z'),
    ).toMatchObject({
      read: 3,
      inserted: 0,
      updated: 0,
      unchanged: 3,
      rejected: 0,
    });
    expect(await read()).toEqual(before);
  });

  it('replaces the record as a whole, keeps createdAt and moves whenUpdated', async () => {
    await importValues(database.sql, 'persons', [{ id: 1, name: 'Ann', school: 'A' }]);
    const second = await importValues(
      database.sql,
      'persons',
      [{ id: 1, name: 'Anna' }],
      '2026-01-01T00:00:00Z',
    );
    expect(second).toMatchObject({ updated: 1 });
    expect(await readPerson(database.sql, 1)).toMatchObject({
      name: 'Anna',
      school: null,
      createdAt: '2025-06-01T10:00:00',
      whenUpdated: '2026-01-01T00:00:00',
    });
  });

  it('removes a moved email from its old owner', async () => {
    await importValues(database.sql, 'persons', [{ id: 1, email: 'a@example.org' }, { id: 2 }]);
    const moved = [{ id: 1 }, { id: 2, email: 'a@example.org' }];
    expect(await importValues(database.sql, 'persons', moved)).toMatchObject({ updated: 2 });
    expect(await readIdentifiers(database.sql, 'person', 1)).toEqual([]);
    expect(await readIdentifiers(database.sql, 'person', 2)).toEqual(['2 a@example.org']);
  });

  it('counts a record as updated when only one of its identifiers changed', async () => {
    await importValues(database.sql, 'persons', [{ id: 1, twitter: 'now' }]);
    const value = { id: 1, twitter: 'now', _meta: { twitterFormer: 'before' } };
    const second = await importValues(database.sql, 'persons', [value], '2026-01-01T00:00:00Z');
    expect(second).toMatchObject({ updated: 1, unchanged: 0 });
    expect(await readPerson(database.sql, 1)).toMatchObject({ whenUpdated: '2025-06-01T10:00:00' });
  });
});

describe('identifiers', () => {
  it('are canonical, once per value, and of the most trusted kind', async () => {
    await importValues(database.sql, 'countries', [{ id: 9, name: 'United Kingdom', iso2: 'gb' }]);
    const value = {
      id: 1,
      countryId: 9,
      professional_network: 'https://www.network.example/in/Ann-Lee/',
      email: 'Ann@Example.org',
      workEmail: 'ann@example.org',
      phone: '020 7946 0958',
      mobile: '+442079460958',
      twitter: '@AnnLee',
      _meta: { twitterFormer: ['annlee', 'OldAnn'] },
    };
    await importValues(database.sql, 'persons', [value]);
    expect(await readIdentifiers(database.sql, 'person', 1)).toEqual([
      '1 ann-lee',
      '3 ann@example.org',
      '4 +442079460958',
      '5 annlee',
      '6 oldann',
    ]);
  });

  it('of people who opted out suppress them in the transaction of the import', async () => {
    const hash = createHash('sha256').update('email:gone@example.org').digest();
    await database.sql`insert into suppressed_identifiers (value_sha256) values (${hash})`;
    await importValues(database.sql, 'persons', [
      { id: 1, workEmail: 'GONE@example.org' },
      { id: 2, email: 'stays@example.org' },
    ]);
    const rows = await database.sql`select person_id from suppressed_persons`;
    expect(rows.map((row) => row.personId)).toEqual([1]);
  });
});

describe('bad records', () => {
  it('go to the rejects with line, reason and field, and the rest is loaded', async () => {
    const lines = [
      '{"id":1}',
      '{"name":"no id"}',
      'not json',
      '{"id":2,"birthYear":"old"}',
      '{"id":3,"birthDate":"1958-02-30"}',
      '{"id":4,"cities":{"name":"no id"}}',
      '{"id":5,"skills":{"a":1},"shoeSize":44}',
      '{"id":6,"companyId":-1}',
      '{"id":7}',
    ];
    const outcome = await importValues(database.sql, 'persons', lines.join('\n'));
    expect(outcome).toMatchObject({
      read: 9,
      inserted: 2,
      rejected: 7,
      unknownFields: { shoeSize: 1 },
    });
    expect(outcome.rejects).toEqual([
      { line: 2, reason: 'missing', field: 'id', record: { name: 'no id' } },
      { line: 3, reason: 'not_json', field: null, record: 'not json' },
      {
        line: 4,
        reason: 'not_an_integer',
        field: 'birthYear',
        record: { id: 2, birthYear: 'old' },
      },
      {
        line: 5,
        reason: 'not_a_date',
        field: 'birthDate',
        record: { id: 3, birthDate: '1958-02-30' },
      },
      {
        line: 6,
        reason: 'not_a_reference',
        field: 'cities',
        record: { id: 4, cities: { name: 'no id' } },
      },
      {
        line: 7,
        reason: 'not_text',
        field: 'skills',
        record: { id: 5, skills: { a: 1 }, shoeSize: 44 },
      },
      { line: 8, reason: 'out_of_range', field: 'companyId', record: { id: 6, companyId: -1 } },
    ]);
  });

  it('that only the database refuses are isolated by bisection', async () => {
    await database.sql`alter table persons add constraint refused check (name <> 'Refused')`;
    const values = [{ id: 1 }, { id: 2, name: 'Refused' }, { id: 3 }];
    const outcome = await importValues(database.sql, 'persons', values);
    expect(outcome).toMatchObject({ inserted: 2, rejected: 1 });
    expect(outcome.rejects[0]?.line).toBe(2);
    expect(outcome.rejects[0]?.reason).toMatch(/^refused_by_database: /);
    await database.sql`alter table persons drop constraint refused`;
  });

  it('of one id: the last one counts', async () => {
    const outcome = await importValues(database.sql, 'persons', [
      { id: 1, name: 'first', email: 'a@example.org' },
      { id: 1, name: 'last' },
    ]);
    expect(outcome).toMatchObject({ read: 2, inserted: 1, unchanged: 1 });
    expect(await readPerson(database.sql, 1)).toMatchObject({ name: 'last', email: '' });
    expect(await readIdentifiers(database.sql, 'person', 1)).toEqual([]);
  });
});
