/** One suite for both readers of companies: random graphs, changes and lists have the same hits, outcomes and bytes in each. */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import {
  type GraphReaders,
  hitsOf,
  openReaders,
  type ShownOutcome,
  textOf,
  valuesOf,
} from '../../../tests/support/graph-readers.ts';
import { rowOf } from '../../../tests/support/rows.ts';
import { smallGraph } from '../../../tests/support/small-graph.ts';
import type { Database } from '../db/client.ts';
import { deletePersons } from '../graph/delete-persons.ts';
import { type OperationName, operations } from '../operations.ts';
import { suppress, suppressPeople } from '../suppression/suppress.ts';

let database: TestDatabase;
let sql: Database;
let readers: GraphReaders;
beforeAll(async () => {
  database = await createTestDatabase();
  sql = database.sql;
  readers = await openReaders(sql);
});
afterAll(async () => {
  await readers.close();
  await database.drop();
});
beforeEach(clear);

async function clear(): Promise<void> {
  await sql`truncate companies, company_identifiers, company_records, company_name_keys, keyed_companies, officers,
    financial_periods, suppressed_officers, persons, person_identifiers, person_records, person_briefs, person_search,
    person_name_keys, keyed_persons, suppressed_identifiers, suppressed_persons`;
}

const ofCompanies = (Object.keys(operations) as OperationName[]).filter(
  (name) => operations[name].subject === 'company',
);

interface Cells {
  domain?: string;
  name?: string;
  registry_number?: string;
  phone?: string;
  /** Of the row, for names. */
  country?: string;
}

/** Expects that the copy answers rows of every operation about companies, and as Postgres does. */
async function expectSame(cells: readonly Cells[]): Promise<ShownOutcome[]> {
  const rowsOf = (operation: OperationName) =>
    cells.map(({ country, ...row }) => {
      return { ...rowOf(operation, row), ...(country === undefined ? {} : { country }) };
    });
  const values = valuesOf(rowsOf('companies.enrich'));
  await readers.expectSame(async ({ companies }) =>
    hitsOf(await companies.lookUp(values), values.length),
  );
  const all: ShownOutcome[] = [];
  for (const operation of ofCompanies) {
    all.push(...(await readers.expectSameOutcomes(operation, rowsOf(operation))));
  }
  return all;
}

/** Expects that the copy reads companies by id, and people with their employers, as Postgres does. */
function expectSameById(companyIds: readonly number[], email: string) {
  const keep = (texts: Buffer[]) => texts;
  return readers.expectSame(async ({ companies, people }) => {
    const hits = await people.lookUp([email]);
    const person = hits.anyId(0);
    const employed = await people.readWithCompany(person === 0 ? [] : [person], { keep });
    return {
      records: (await companies.read(companyIds, { keep })).map(textOf),
      directors: await companies.readDirectors(companyIds),
      periods: await companies.readFinancials(companyIds),
      employed: employed.map((one) => [textOf(one?.person), textOf(one?.company)]),
    };
  });
}

// Few values, so that companies share them and people are directors.
const domain = fc.constantFrom('a.example', 'b.example', 'c.example');
const name = fc.constantFrom('Acme Ltd', 'Beta Ltd', 'Zoë 漢字 GmbH');
const number = fc.constantFrom('01234567', '01234568', '01234569', '07654321');
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value);
const companyId = fc.integer({ min: 10, max: 14 });
const registered = fc.oneof(
  { arbitrary: fc.constant({}), weight: 1 },
  {
    arbitrary: fc.record({
      registryNumber: number,
      registryCountry: fc.constantFrom('GB', 'GB', 'FR'),
    }),
    weight: 4,
  },
);
const unregistered = fc.record({
  id: companyId,
  name,
  domain: maybe(domain),
  domains: fc.subarray(['c.example', 'd.example']),
  aliases: fc.subarray(['Beta Ltd', 'Alias']),
  formerNames: fc.subarray(['Acme Ltd', 'Former Ltd']),
  phone: maybe(fc.constantFrom('+441632960200', '+441632960201')),
  summary: fc.constantFrom('', 'Long\nand, "quoted"', 's'.repeat(3000)),
  logo: maybe(fc.constant('https://a.example/logo.png')),
  status: maybe(fc.constantFrom('active', 'dissolved')),
});
const companyOf = fc.tuple(unregistered, registered).map(([one, by]) => ({ ...one, ...by }));
const officerOf = fc.record({
  companyId,
  name: fc.constantFrom('LOVELY, Ada', 'Ada Lovely', 'BROWN, Bob'),
  role: fc.constantFrom('director', 'secretary'),
  appointedOn: maybe(fc.constant('2019-01-01')),
  birthYear: maybe(fc.constantFrom(1980, 1975)),
  birthMonth: maybe(fc.constantFrom(5, 6)),
  personId: maybe(fc.integer({ min: 1, max: 4 })),
});
const personOf = fc.record({
  id: fc.integer({ min: 1, max: 4 }),
  name: fc.constantFrom('Ada', 'Bob'),
  surname: fc.constantFrom('Lovely', 'Brown'),
  birthYear: fc.constantFrom(0, 1980, 1980, 1975),
  birthDate: fc.constantFrom(null, null, '1980-05-03'),
  email: fc.constantFrom('p1@home.example', 'p2@home.example', 'p3@home.example'),
  companyId: fc.constantFrom(0, 10, 11, 99),
});
const financialOf = fc.record({
  companyId,
  periodEnd: fc.constantFrom('2021-12-31', '2022-12-31'),
  currency: fc.constantFrom('GBP', 'EUR'),
  revenue: maybe(fc.integer({ min: -5, max: 5 })),
});
const changeOf = fc.oneof(
  companyOf.map((one) => ({ companies: [one] })),
  officerOf.map((one) => ({ officers: [one] })),
  personOf.map((one) => ({ persons: [one] })),
  financialOf.map((one) => ({ financials: [one] })),
  personOf.map(({ email }) => ({ optOut: email })),
);
const cellsOf: fc.Arbitrary<Cells> = fc.record(
  {
    domain: fc.oneof(domain, fc.constant('d.example')),
    name: fc.oneof(name, fc.constantFrom('Alias', 'Former Ltd')),
    registry_number: number,
    phone: fc.constantFrom('+441632960200', '+441632960201'),
    country: fc.constantFrom('GB', 'FR'),
  },
  { requiredKeys: [] },
);
const ids = [10, 11, 12, 13, 14];
const some = <One>(one: fc.Arbitrary<One>, maxLength: number) => fc.array(one, { maxLength });

/** A company with a director who is a person, and a financial period: random graphs seldom have both. */
const directed = {
  companies: [{ id: 10, name: 'Acme Ltd', registryNumber: '01234567', registryCountry: 'GB' }],
  persons: [{ id: 1, name: 'Ada', surname: 'Lovely', birthYear: 1980, email: 'p1@home.example' }],
  officers: [{ companyId: 10, name: 'LOVELY, Ada', role: 'director', birthYear: 1980 }],
  financials: [{ companyId: 10, periodEnd: '2021-12-31', currency: 'GBP', revenue: 1 }],
};
const byNumber: Cells[] = [{ registry_number: '01234567' }];

test('postgres and the copy have the same hits, outcomes and bytes, also after changes', async () => {
  const seen = { matched: 0, directors: 0, periods: 0 };
  const property = fc.asyncProperty(
    fc.record<Parameters<typeof importGraph>[1]>({
      companies: fc.array(companyOf, { minLength: 1, maxLength: 8 }),
      persons: fc.array(personOf, { minLength: 1, maxLength: 5 }),
      officers: fc.array(officerOf, { minLength: 3, maxLength: 8 }),
      financials: some(financialOf, 4),
    }),
    fc.array(changeOf, { maxLength: 3 }),
    fc.array(cellsOf, { minLength: 1, maxLength: 10 }),
    async (graph, changes, cells) => {
      await clear();
      await importGraph(sql, graph);
      await readers.build();
      const expectAllSame = async () => {
        await expectSameById(ids, 'p1@home.example');
        for (const { status, directors, periods } of await expectSame(cells)) {
          if (status === 'matched') seen.matched++;
          if (/"person_id":\d/.test(directors ?? '')) seen.directors++;
          if (periods) seen.periods++;
        }
      };
      await expectAllSame();
      for (const change of changes) {
        if ('optOut' in change) await suppress(sql, change.optOut);
        else await importGraph(sql, change);
        await expectAllSame();
      }
      await readers.rollForward();
      await expectAllSame();
    },
  );
  await fc.assert(property, {
    numRuns: 6,
    examples: [[directed, [{ optOut: 'p2@home.example' }], byNumber]],
  });
  const many = expect.toSatisfy((count: number) => count > 2);
  expect(seen).toEqual({ matched: many, directors: many, periods: many });
}, 240_000);

test('they agree on a name that more companies share than a look-up returns', async () => {
  const named = (number: number, from: number) =>
    Array.from({ length: number }, (_, index) => ({ id: from + index, name: 'Acme Ltd' }));
  for (const [number, from, reason] of [
    [99, 1, 'shared_by_99_records'],
    [1, 200, 'shared_by_100_or_more_records'],
    [60, 300, 'shared_by_100_or_more_records'],
  ] as const) {
    await importGraph(sql, { companies: named(number, from) });
    await readers.build();
    expect(JSON.stringify(await expectSame([{ name: 'Acme Ltd' }]))).toContain(reason);
  }
  await importGraph(sql, { companies: named(60, 400) });
  await expectSame([{ name: 'Acme Ltd' }]);
});

test('a director who opts out, or becomes another person, is so in the next answer of the copy', async () => {
  await importGraph(sql, smallGraph);
  await readers.build();
  const directorsOfAcme = async () => {
    const [row] = await expectSame([{ registry_number: '01234567' }]);
    return JSON.stringify(JSON.parse(row?.directors ?? '[]'));
  };
  const ada = '"name":"LOVELY, Ada","role":"director"';
  expect(await directorsOfAcme()).toMatch(/"name":"LOVELY, Ada","role":"director".*"person_id":1/);
  // A second person of her name and birth.
  const twin = { id: 77, name: 'Ada', surname: 'Lovely', birthYear: 1980, birthDate: '1980-05-09' };
  await importGraph(sql, { persons: [twin] });
  expect(await directorsOfAcme()).not.toContain('"person_id":1,');
  await importGraph(sql, { persons: [{ ...twin, surname: 'Lovelier' }] });
  expect(await directorsOfAcme()).toContain('"person_id":1,');
  await suppress(sql, 'ada@home.example');
  expect(await directorsOfAcme()).not.toContain(ada);
});

test('a director linked to someone who is not stored is unnamed in the next answer of the copy after an opt-out', async () => {
  await importGraph(sql, smallGraph);
  const late = { companyId: 10, name: 'Late Ly', role: 'late', personId: 4711 };
  await importGraph(sql, { officers: [late] });
  await readers.build();
  const directorsOfAcme = async () => {
    const [row] = await expectSame([{ registry_number: '01234567' }]);
    return row?.directors;
  };
  expect(await directorsOfAcme()).toContain('Late Ly');
  await suppressPeople(sql, [4711], []);
  expect(await directorsOfAcme()).not.toContain('Late Ly');
});

test('a person has the employer of today', async () => {
  const person = { id: 1, email: 'p1@home.example', companyId: 10 };
  await importGraph(sql, { companies: [{ id: 10, name: 'Acme Ltd' }], persons: [person] });
  await readers.build();
  const employer = async () => {
    const { employed } = await expectSameById([], 'p1@home.example');
    return employed[0]?.[1];
  };
  expect(await employer()).toContain('Acme Ltd');
  await importGraph(sql, { companies: [{ id: 10, name: 'Acme Two Ltd' }] });
  expect(await employer()).toContain('Acme Two Ltd');
  await importGraph(sql, { persons: [{ ...person, companyId: 0 }] });
  expect(await employer()).toBeNull();
  await deletePersons(sql, [1]);
  expect(await employer()).toBeUndefined();
});
