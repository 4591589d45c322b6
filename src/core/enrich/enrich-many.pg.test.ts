import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { rowOf } from '../../../tests/support/rows.ts';
import {
  acme,
  ada,
  beta,
  bob,
  emptyCompany,
  emptyPerson,
  eve,
  smallGraph,
} from '../../../tests/support/small-graph.ts';
import { connect } from '../db/client.ts';
import { deletePersons } from '../graph/delete-persons.ts';
import type { IdentifierKind } from '../identifiers/identifier.ts';
import { must } from '../lib/assert.ts';
import type { OperationName } from '../operations.ts';
import { suppress } from '../suppression/suppress.ts';
import { enrichMany } from './enrich-many.ts';
import { matchToJson, outputColumns } from './match-data.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await importGraph(database.sql, smallGraph);
  expect(await suppress(database.sql, 'out@home.example')).toEqual({ persons: 1 });
});
afterAll(() => database.drop());

type Cells = Partial<Record<IdentifierKind, string>>;

/** One row's outcome, with the match as the API shows it. */
async function enrich(operation: OperationName, cells: Cells) {
  const [outcome] = await enrichMany(database.sql, operation, [rowOf(operation, cells)]);
  if (outcome === undefined) throw new Error('no outcome');
  const { match, status, by, reason, conflict } = outcome;
  const data = match === null ? null : JSON.parse(matchToJson(operation, match));
  return { status, by, reason, conflict, data };
}

const matched = (by: string, data: unknown) => {
  return { status: 'matched', by, reason: '', conflict: false, data };
};
const miss = (status: string, by = '', reason = '') => {
  return { status, by, reason, conflict: false, data: null };
};
const notFound = (tried: string) => miss('no_match', tried, 'not_found');

const adaJson = { ...emptyPerson, ...ada, company: { id: 10, name: 'Acme Widgets Ltd' } };
const { _meta, ...eveFields } = eve;
const eveJson = { ...emptyPerson, ...eveFields };
const acmeJson = { ...emptyCompany, ...acme };

describe('people.enrich', () => {
  test.each<[string, Cells]>([
    ['professional_network', { professional_network: 'https://de.example.com/in/Ada-Lovely/?x=1' }],
    ['email', { email: ' ADA@home.example' }],
    ['email', { email: 'mailto:ada@acme.example' }],
    ['phone', { phone: '+44 1632 960001' }],
    ['phone', { phone: '+447700900001' }],
    ['twitter', { twitter: '@Ada' }],
  ])('finds a person by %s and returns every field of the record', async (by, cells) => {
    const found = await enrich('people.enrich', cells);
    expect(found).toEqual(matched(by, adaJson));
    expect(Object.keys(found.data as object)).toEqual(Object.keys(emptyPerson));
  });

  test('a former handle finds its former holder and is reported as former', async () => {
    const found = await enrich('people.enrich', { twitter: 'eve_old' });
    expect(found).toEqual(matched('former_handle', eveJson));
  });

  test('an unknown identifier does not match', async () => {
    expect(await enrich('people.enrich', { email: 'nobody@home.example' })).toEqual(
      notFound('email'),
    );
  });

  test('a telephone shared by two people is ambiguous', async () => {
    const shared = miss('ambiguous', 'phone', 'shared_by_2_records');
    expect(await enrich('people.enrich', { phone: '+441632960099' })).toEqual(shared);
  });

  test('an opted-out person is a miss, by every identifier', async () => {
    const nobody = notFound('email');
    expect(await enrich('people.enrich', { email: 'out@home.example' })).toEqual(nobody);
    expect(await enrich('people.enrich', { professional_network: 'opt-out' })).toEqual(
      notFound('professional_network'),
    );
    expect(await enrich('people.mobile', { email: 'out@acme.example' })).toEqual(nobody);
  });

  test('an identifier of another person is a conflict, and trust decides', async () => {
    const found = await enrich('people.enrich', {
      professional_network: 'ada-lovely',
      email: 'bob@home.example',
    });
    expect(found).toEqual({ ...matched('professional_network', adaJson), conflict: true });
  });

  test('a row without a usable identifier is invalid, with the reason', async () => {
    expect(await enrich('people.enrich', {})).toEqual(miss('invalid', '', 'no_identifier'));
    expect(await enrich('people.enrich', { email: 'not an address' })).toEqual(
      miss('invalid', '', 'not_an_email'),
    );
  });
});

describe('people.enrich-with-company', () => {
  test('returns the person and the employer', async () => {
    expect(await enrich('people.enrich-with-company', { email: 'ada@home.example' })).toEqual(
      matched('email', { person: adaJson, company: acmeJson }),
    );
  });

  test('the company is null without an employer and for an employer that is not stored', async () => {
    expect(await enrich('people.enrich-with-company', { email: 'bob@home.example' })).toEqual(
      matched('email', { person: { ...emptyPerson, ...bob }, company: null }),
    );
    expect(await enrich('people.enrich-with-company', { email: 'eve@home.example' })).toEqual(
      matched('email', { person: eveJson, company: null }),
    );
  });

  test('an opted-out person is a miss', async () => {
    expect(await enrich('people.enrich-with-company', { email: 'out@home.example' })).toEqual(
      notFound('email'),
    );
  });
});

describe('people.mobile', () => {
  test('returns the stored mobile number', async () => {
    expect(await enrich('people.mobile', { professional_network: 'ada-lovely' })).toEqual(
      matched('professional_network', { person_id: 1, mobile: '+447700900001' }),
    );
  });

  test('a person without a mobile does not match, so it costs nothing', async () => {
    expect(await enrich('people.mobile', { email: 'bob@home.example' })).toEqual(notFound('email'));
  });
});

describe('people.email-verify', () => {
  test('returns the stored status of a work email', async () => {
    expect(await enrich('people.email-verify', { email: 'ada@acme.example' })).toEqual(
      matched('email', {
        email: 'ada@acme.example',
        status: 'valid',
        verified_at: '2023-11-12T13:14:15',
        person_id: 1,
      }),
    );
    const found = await enrich('people.email-verify', { email: 'eve@gone.example' });
    expect(found.data).toMatchObject({ status: 'catch_all', person_id: 4 });
  });

  test('a status that is none of the four is unknown and has no time of verification', async () => {
    expect(await enrich('people.email-verify', { email: 'bob@acme.example' })).toEqual(
      matched('email', {
        email: 'bob@acme.example',
        status: 'unknown',
        verified_at: null,
        person_id: 2,
      }),
    );
  });

  test('a list names the verified address and its person', () => {
    const headers = outputColumns('people.email-verify', null).map(({ header }) => header);
    expect(headers).toEqual(['person.id', 'email.address', 'email.status', 'email.verified_at']);
  });

  test('a personal email is not verified', async () => {
    expect(await enrich('people.email-verify', { email: 'ada@home.example' })).toEqual(
      notFound('email'),
    );
  });
});

describe('companies.enrich', () => {
  test.each<[string, Cells]>([
    ['domain', { domain: 'https://www.acme.example/about' }],
    ['alias_domain', { domain: 'acme-widgets.example' }],
    ['professional_network', { professional_network: 'https://example.com/company/acme-widgets' }],
    ['phone', { phone: '+441632960100' }],
    ['name', { name: 'ACME Widgets Limited' }],
  ])('finds a company by %s, without directors', async (by, cells) => {
    expect(await enrich('companies.enrich', cells)).toEqual(matched(by, acmeJson));
  });

  test('a name that is one company’s current and another’s former name is ambiguous', async () => {
    expect(await enrich('companies.enrich', { name: 'Gamma' })).toEqual(
      miss('ambiguous', 'name', 'shared_by_2_records'),
    );
    const former = await enrich('companies.enrich', { name: 'Old Beta' });
    expect(former).toEqual(matched('former_name', { ...emptyCompany, ...beta }));
    const alias = await enrich('companies.enrich', { name: 'Gamma Group of Lyon' });
    expect(alias).toMatchObject({ status: 'matched', by: 'alias_name', data: { id: 12 } });
  });

  test('a UK number returns the directors, matched to people when exactly one fits', async () => {
    const director = (name: string | null, role: string, appointed_on: string) => {
      return { name, role, appointed_on, resigned_on: null, person_id: null, matched_by: null };
    };
    const byBirth = { person_id: 1, matched_by: 'name_and_birth' };
    expect(await enrich('companies.enrich', { registry_number: '1234567' })).toEqual(
      matched('registry_number', {
        ...acmeJson,
        directors: [
          {
            ...director('SAMPLE, Eve Q', 'linked', '2014-01-01'),
            person_id: 4,
            matched_by: 'link',
          },
          director(null, 'opted out, linked', '2012-01-01'),
          director(null, 'opted out', '2013-01-01'),
          director('NOBODY, Ned', 'none fits', '2015-01-01'),
          director('BROWN, Bob', 'two fit', '2016-01-01'),
          director('Ada Lovely', 'no birth known', '2017-01-01'),
          director('LOVELY, Ada', 'month differs', '2018-01-01'),
          { ...director('LOVELY, Ada', 'director', '2019-01-01'), ...byBirth },
          {
            ...director('LÖVELY, Àda', 'accents differ', '2011-01-01'),
            resigned_on: '2012-06-30',
            ...byBirth,
          },
        ].sort(byAppointment),
      }),
    );
  });

  test('a UK company without officers returns an empty list', async () => {
    expect(await enrich('companies.enrich', { registry_number: 'SC-123456' })).toEqual(
      matched('registry_number', { ...emptyCompany, ...beta, directors: [] }),
    );
  });

  test('a number of another register returns the company without directors', async () => {
    const found = await enrich('companies.enrich', { registry_number: 'FR-552100554' });
    expect(found).toMatchObject({ status: 'matched', by: 'registry_number', data: { id: 12 } });
    expect(found.data).not.toHaveProperty('directors');
  });
});

/** Current officers first, then by the day of appointment. */
function byAppointment(
  a: { appointed_on: string; resigned_on: string | null },
  b: { appointed_on: string; resigned_on: string | null },
): number {
  const key = (d: typeof a) => `${d.resigned_on === null ? 0 : 1}${d.appointed_on}`;
  return key(a) < key(b) ? -1 : 1;
}

describe('companies.logo and companies.financials', () => {
  test('returns the stored logo', async () => {
    expect(await enrich('companies.logo', { domain: 'acme.example' })).toEqual(
      matched('domain', { company_id: 10, logo_url: 'https://img.acme.example/logo.png' }),
    );
  });

  test('returns the periods, latest first, in the latest currency', async () => {
    const period = (period_end: string, currency: string, values: object) => {
      const none = { revenue: null, gross_profit: null, operating_profit: null, profit: null };
      const more = { total_assets: null, net_assets: null, cash: null, employees: null };
      return { period_end, currency, ...none, ...more, ...values };
    };
    expect(await enrich('companies.financials', { name: 'acme widgets' })).toEqual(
      matched('name', {
        company_id: 10,
        currency: 'GBP',
        periods: [
          period('2022-12-31', 'GBP', { revenue: 1000, profit: -5, employees: 3 }),
          period('2021-12-31', 'EUR', { revenue: 900 }),
          period('2020-12-31', 'EUR', { cash: 1 }),
        ],
      }),
    );
  });

  test('a company without a logo or a period does not match, so it costs nothing', async () => {
    const nothing = notFound('domain');
    expect(await enrich('companies.logo', { domain: 'beta.example' })).toEqual(nothing);
    expect(await enrich('companies.financials', { domain: 'beta.example' })).toEqual(nothing);
  });

  test('a switchboard of two companies is ambiguous', async () => {
    const shared = miss('ambiguous', 'phone', 'shared_by_2_records');
    expect(await enrich('companies.logo', { phone: '+441632960200' })).toEqual(shared);
  });
});

test('lists of logos and financials name the company', () => {
  for (const operation of ['companies.logo', 'companies.financials'] as const) {
    const headers = outputColumns(operation, null).map(({ header }) => header);
    expect(headers.slice(0, 2)).toEqual(['company.id', 'company.name']);
  }
});

test('a value of more records than are counted is told as such', async () => {
  const persons = Array.from({ length: 103 }, (_, index) => {
    return { id: 5000 + index, phone: '+441632960777' };
  });
  await importGraph(database.sql, { persons });
  const shared = await enrich('people.enrich', { phone: '+441632960777' });
  expect(shared).toEqual(miss('ambiguous', 'phone', 'shared_by_100_or_more_records'));
});

test('a deleted person is no longer a match', async () => {
  const doomed = { id: 77, email: 'doomed@home.example' };
  await importGraph(database.sql, { persons: [doomed] });
  expect(await enrich('people.enrich', { email: doomed.email })).toMatchObject({
    status: 'matched',
  });
  await deletePersons(database.sql, [doomed.id]);
  expect(await enrich('people.enrich', { email: doomed.email })).toEqual(notFound('email'));
});

test('the owner of a domain is found even though more than a hundred companies have it as an alias', async () => {
  const domain = 'shared-hosting.example';
  const aliases = Array.from({ length: 150 }, (_, i) => {
    return { id: 5000 + i, name: `Tenant ${i}`, domains: [domain] };
  });
  const owner = { id: 6000, name: 'Landlord', domain };
  await importGraph(database.sql, { companies: aliases });
  await importGraph(database.sql, { companies: [owner] });
  // Independent of the plan that the database would choose: without its indexes it reads in order of insertion.
  const sql = connect({ url: database.url, connections: 1 });
  await sql`set enable_indexscan = off`;
  await sql`set enable_indexonlyscan = off`;
  await sql`set enable_bitmapscan = off`;
  const row = rowOf('companies.enrich', { domain });
  const [found] = await enrichMany(sql, 'companies.enrich', [row]);
  await sql.end();
  expect(found).toMatchObject({ status: 'matched', by: 'domain' });
  expect(JSON.parse(matchToJson('companies.enrich', must(found?.match, 'match')))).toMatchObject({
    id: owner.id,
  });
});
