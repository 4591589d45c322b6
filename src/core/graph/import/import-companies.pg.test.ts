import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { emptyCompany } from '../../../../tests/support/small-graph.ts';
import {
  importValues,
  readCompany,
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
    company_identifiers, company_records, company_name_keys, keyed_companies, officers, financial_periods, countries, regions, cities,
    industries, positions`;
});

const full = {
  id: 5,
  createdAt: '2023-03-04T05:06:07',
  whenUpdated: '2024-05-06T07:08:09',
  name: 'Acme & Sons',
  domain: 'acme.example.com',
  website: 'https://www.acme.example.com/',
  professional_network: 'acme-and-sons',
  registryNumber: '00048839',
  registryCountry: 'GB',
  phone: '+442079460958',
  email: 'info@acme.example.com',
  twitter: 'acme',
  industryId: 64,
  industries: { id: 64, name: 'Banking' },
  headCount: '50-249',
  employees: 120,
  founded: '1962',
  summary: 'Line\nbreak',
  logo: 'https://images.example/acme.svg',
  street: '1 High Street',
  postcode: 'EC1A 1BB',
  locality: 'London, England, United Kingdom',
  locationGeo: '51.50853,-0.12574',
  cityId: 2643743,
  cities: {
    id: 2643743,
    name: 'London',
    countryId: 232,
    countries: { id: 232, name: 'United Kingdom' },
    regionId: 0,
    regions: null,
    createdAt: '1970-01-01T00:00:00',
  },
  regionId: 2336,
  regions: { id: 2336, name: 'England' },
  countryId: 232,
  countries: { id: 232, name: 'United Kingdom' },
  domains: ['acme.example.org', 'acme "x"'],
  aliases: ['Acme'],
  formerNames: ['Acme Brothers', 'Back\\slash'],
  sicCodes: ['64110', '70100'],
  status: 'Active',
};

/** A company with an id and nothing else. */
const empty = {
  ...emptyCompany,
  id: 1,
  createdAt: '2025-06-01T10:00:00',
  whenUpdated: '2025-06-01T10:00:00',
};

describe('companies', () => {
  it('round-trip with every field and with none', async () => {
    await importValues(database.sql, 'companies', [full, { id: 1 }]);
    expect(JSON.stringify(await readCompany(database.sql, 5))).toBe(JSON.stringify(full));
    expect(JSON.stringify(await readCompany(database.sql, 1))).toBe(JSON.stringify(empty));
  });

  it('are unchanged by a second import, directors included', async () => {
    const values = [{ ...full, directors: [{ personId: 3, name: 'A. Bell', position: 'CEO' }] }];
    await importValues(database.sql, 'companies', values);
    const read = () => readVersions(database.sql, 'officers');
    const before = await read();
    expect(await importValues(database.sql, 'companies', values)).toMatchObject({ unchanged: 1 });
    expect(await read()).toEqual(before);
  });

  it('are found by full names, and by lower-trust kinds only for values that differ', async () => {
    const value = {
      id: 5,
      name: 'Acme Ltd',
      website: 'https://www.acme-tools.com/about',
      domains: ['acme-tools.com', 'acme-tools.org'],
      registryNumber: '48839',
      registry: 'GB-COH',
      aliases: ['ACME', 'Acme Tools'],
      secName: 'Acme Tools',
      formerNames: ['acme tools', 'Bell Works'],
    };
    await importValues(database.sql, 'companies', [value, { id: 6, domain: 'gmail.com' }]);
    expect(await readIdentifiers(database.sql, 'company', 5)).toEqual([
      '1 GB-00048839',
      '2 acme-tools.com',
      '3 acme-tools.org',
      '6 acme',
      '7 acme tools',
      '8 bell works',
    ]);
    expect(await readIdentifiers(database.sql, 'company', 6)).toEqual([]);
    expect(await readCompany(database.sql, 5)).toMatchObject({ registryCountry: 'GB' });
  });

  it('pass a new name on to their people', async () => {
    await importValues(database.sql, 'persons', [
      { id: 1, companyId: 5 },
      { id: 2, companyId: 6 },
    ]);
    expect(await readPerson(database.sql, 1)).toMatchObject({ company: null });
    await importValues(database.sql, 'companies', [{ id: 5, name: 'Acme' }]);
    expect(await readPerson(database.sql, 1)).toMatchObject({ company: { id: 5, name: 'Acme' } });
    await importValues(database.sql, 'companies', [{ id: 5, name: 'Acme Holdings' }]);
    expect(await readPerson(database.sql, 1)).toMatchObject({
      company: { id: 5, name: 'Acme Holdings' },
      whenUpdated: '2025-06-01T10:00:00',
    });
  });

  it('replace their undated officers with the directors they name', async () => {
    await importValues(database.sql, 'officers', [
      { companyId: 5, name: 'Dated', role: 'CEO', appointedOn: '2020-01-01' },
      { companyId: 5, name: 'Undated', role: 'CEO' },
    ]);
    const directors = [{ personId: 3, name: 'Named', position: 'CFO' }];
    await importValues(database.sql, 'companies', [{ id: 5, directors }, { id: 6 }]);
    const rows = await database.sql`select name, role, person_id from officers order by name`;
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { name: 'Dated', role: 'CEO', personId: null },
      { name: 'Named', role: 'CFO', personId: 3 },
    ]);
    const same = await importValues(database.sql, 'companies', [{ id: 5 }]);
    expect(same).toMatchObject({ unchanged: 1 });
  });
});

describe('officers and financial periods', () => {
  it('find their company by id or registry number', async () => {
    await importValues(database.sql, 'companies', [
      { id: 5, registryNumber: '00048839', registryCountry: 'GB' },
      { id: 6, registryNumber: 'SC1', registryCountry: 'GB' },
      { id: 7, registryNumber: 'SC1', registryCountry: 'GB' },
    ]);
    const values = [
      { registryNumber: '48839', registry: 'GB-COH', name: 'A', birthYear: 1970, birthMonth: 2 },
      { company: 5, name: 'B', resignedOn: '2024-02-29' },
      { registryNumber: '99', name: 'C' },
      { registryNumber: 'SC1', name: 'D' },
      { companyId: 5 },
      { name: 'E' },
      { companyId: 5, name: 'F', birthMonth: 13 },
    ];
    const outcome = await importValues(database.sql, 'officers', values);
    expect(outcome).toMatchObject({ read: 7, inserted: 2, rejected: 5, unchanged: 0 });
    expect(outcome.rejects.map(({ line, reason, field }) => [line, reason, field]).sort()).toEqual([
      [3, 'no_such_company', 'registryNumber'],
      [4, 'more_than_one_company', 'registryNumber'],
      [5, 'missing', 'name'],
      [6, 'missing', 'companyId'],
      [7, 'out_of_range', 'birthMonth'],
    ]);
    const rows = await database.sql`
      select company_id, name, birth_year, birth_month, resigned_on from officers order by name`;
    expect(rows.map((row) => Object.values(row))).toEqual([
      [5, 'A', 1970, 2, null],
      [5, 'B', null, null, '2024-02-29'],
    ]);
  });

  it('change nothing when imported twice, and update what differs', async () => {
    const period = {
      companyId: 5,
      periodEnd: '2024-12-31',
      currency: 'gbp',
      revenue: 681_000_000_000,
      grossProfit: 1,
      operatingProfit: 2,
      profit: -3,
      totalAssets: 4,
      netAssets: 5,
      cash: 6,
      employees: 7,
    };
    const first = await importValues(database.sql, 'financials', [period]);
    const second = await importValues(database.sql, 'financials', [period]);
    const third = await importValues(database.sql, 'financials', [{ ...period, profit: 9 }]);
    expect([first.inserted, second.unchanged, third.updated]).toEqual([1, 1, 1]);
    const [row] = await database.sql`select * from financial_periods`;
    expect(row).toEqual({ ...period, currency: 'GBP', profit: 9, isSourced: false });
  });
});

describe('reference rows', () => {
  it('are created from records, and derived names only fill gaps', async () => {
    await importValues(database.sql, 'countries', [{ id: 233, name: 'United States', iso2: 'US' }]);
    await importValues(database.sql, 'persons', [
      {
        id: 1,
        positionId: 31,
        position: 'Boss',
        industryId: 64,
        industry: 'Banking',
        locality: 'Bentonville, Arkansas, USA',
        countryId: 233,
        regionId: 1444,
        cities: { id: 4101260, name: 'Bentonville', countryId: 233, regionId: 1444 },
      },
    ]);
    expect(await readPerson(database.sql, 1)).toMatchObject({
      positions: { id: 31, name: 'Boss' },
      industries: { id: 64, name: 'Banking' },
      countries: { id: 233, name: 'United States' },
      regions: { id: 1444, name: 'Arkansas' },
      cityId: 4101260,
      cities: {
        name: 'Bentonville',
        countries: { id: 233, name: 'United States' },
        regions: { id: 1444, name: 'Arkansas' },
      },
    });
    const [region] = await database.sql`select country_id from regions where id = 1444`;
    expect(region?.countryId).toBe(233);
    await importValues(database.sql, 'persons', [
      { id: 2, positionId: 31, position: 'Chief', cities: { id: 4101260, name: '' } },
    ]);
    expect(await readPerson(database.sql, 2)).toMatchObject({
      positions: { id: 31, name: 'Boss' },
      cities: { name: 'Bentonville', countryId: 233, regionId: 1444 },
    });
  });

  it.each([
    ['cities', { id: 3, name: 'New' }],
    ['countries', { id: 3, name: 'New' }],
    ['regions', { id: 3, name: 'New' }],
    ['industries', { id: 3, name: 'New' }],
    ['positions', { id: 3, name: 'New' }],
  ] as const)('of %s reach the people who show them', async (table, renamed) => {
    const ids = { cityId: 3, countryId: 3, regionId: 3, industryId: 3, positionId: 3 };
    await importValues(database.sql, 'persons', [{ id: 1, ...ids }]);
    const before = (await readPerson(database.sql, 1))?.[table];
    if (table === 'cities') expect(before).toMatchObject({ id: 0, name: '' });
    else expect(before).toBeNull();
    await importValues(database.sql, table, [{ id: 3, name: 'Old' }]);
    expect((await readPerson(database.sql, 1))?.[table]).toMatchObject({ id: 3, name: 'Old' });
    await importValues(database.sql, table, [renamed]);
    expect((await readPerson(database.sql, 1))?.[table]).toMatchObject(renamed);
    expect(await importValues(database.sql, table, [renamed])).toMatchObject({ unchanged: 1 });
  });

  it('pass a country’s new name on to its cities', async () => {
    const cities = { id: 8, name: 'Town', countryId: 9 };
    await importValues(database.sql, 'persons', [{ id: 1, cities }]);
    await importValues(database.sql, 'countries', [{ id: 9, name: 'Land' }]);
    expect(await readPerson(database.sql, 1)).toMatchObject({
      cities: { countries: { id: 9, name: 'Land' } },
    });
  });

  it('without a name, and with a wrong code, are rejected', async () => {
    const values = [{ id: 1 }, { id: 2, name: 'X', iso2: 'GBR' }, { id: 0, name: 'Y' }];
    const outcome = await importValues(database.sql, 'countries', values);
    expect(outcome.rejects.map(({ reason, field }) => [reason, field])).toEqual([
      ['missing', 'name'],
      ['not_a_country_code', 'iso2'],
      ['out_of_range', 'id'],
    ]);
  });
});
