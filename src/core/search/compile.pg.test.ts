import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Sql } from '../db/client.ts';
import { deletePersons } from '../graph/delete-persons.ts';
import { personFields } from '../graph/fields.ts';
import { recordToJson } from '../graph/record.ts';
import { must } from '../lib/assert.ts';
import { suppress } from '../suppression/suppress.ts';
import { compileFilter, presenceBit } from './compile.sql.ts';
import { excludable, type ParameterKind, searchParameters } from './fields.ts';
import { parseFilter } from './parse.ts';
import { prepareFilter } from './prepare.ts';
import {
  at,
  type DrawnFilter,
  drawnConditionEach,
  drawnFilter,
  drawnGraph,
  isAbsent,
  type Subject,
  YEAR,
} from './random-filters.test-suite.ts';

const owner = { accountId: '01900000-0000-7000-8000-000000000000', live: true };
const now = new Date(`${YEAR}-06-01T00:00:00Z`);
const graphs = fc.sample(drawnGraph, { numRuns: 3, seed: 7 });

/** Returns the ids of the people that match a query, in order. */
async function find(sql: Sql, query: string): Promise<number[]> {
  const prepared = await prepareFilter(sql, parseFilter(query), owner, now);
  const rows = await sql<{ id: number }[]>`
    select p.id from persons p where ${compileFilter(sql, prepared)} order by p.id`;
  return rows.map(({ id }) => id);
}

describe.each(graphs.map((graph, index) => ({ graph, index })))('graph $index', ({ graph }) => {
  let database: TestDatabase;
  let subjects: Subject[];
  beforeAll(async () => {
    database = await createTestDatabase();
    await importGraph(database.sql, { ...graph });
    const rows = await database.sql<
      { record: string; headCount: string | null; employees: number | null; stored: boolean }[]
    >`
      select r.record, c.head_count, c.employees, c.id is not null as stored
      from person_records r left join companies c on c.id = r.company_id order by r.id`;
    subjects = rows.map(({ record, stored, ...company }) => ({
      person: JSON.parse(recordToJson(personFields, record)),
      company: stored ? company : null,
    }));
    expect(subjects).toHaveLength(graph.persons.length);
  });
  afterAll(() => database.drop());

  const agrees = async ({ query, matches }: DrawnFilter) => {
    const expected = subjects.filter(matches).map(({ person }) => person.id);
    expect(await find(database.sql, query), query).toEqual(expected);
  };

  test.each(drawnConditionEach)('%s alone matches the same people', async (_name, condition) => {
    await fc.assert(fc.asyncProperty(condition, agrees), { numRuns: 12, seed: 1 });
  });

  test.each(drawnConditionEach.filter(([name]) => excludable.has(name)))(
    'an exclusion of %s leaves out exactly its people',
    async (name, condition) => {
      const inverted = condition
        .filter(({ query }) => query.startsWith(`${name}=`))
        .map(({ query, matches }) => ({
          query: `id=*&not.${query}`,
          matches: (subject: Subject) => !matches(subject),
        }));
      await fc.assert(fc.asyncProperty(inverted, agrees), { numRuns: 12, seed: 3 });
    },
  );

  test('combined filters match the people that each of them matches', async () => {
    await fc.assert(fc.asyncProperty(drawnFilter, agrees), { numRuns: 150, seed: 2 });
  });

  test('no range of numbers or times matches an unknown value', async () => {
    const openRanges: Partial<Record<ParameterKind, string>> = {
      integer: '[0|0-]',
      ids: '[0|0-]',
      overlap: '[0-]',
      age: '[0-]',
      time: '1000-01-01..',
    };
    for (const { name, kind, field, inside } of searchParameters.values()) {
      const range = openRanges[kind];
      if (range === undefined || name === 'headCount' || name.startsWith('not.')) continue;
      const path = inside === undefined ? field : [inside.object, ...inside.path].join('.');
      const known = subjects.filter(({ person }) => !isAbsent(at(person, path)));
      const ids = new Set(known.map(({ person }) => person.id));
      const found = await find(database.sql, `${name}=${range}`);
      expect([name, found.filter((id) => !ids.has(id))]).toEqual([name, []]);
    }
  });

  test('every field is present or absent as in its record', async () => {
    const rows = await database.sql<{ id: number; present: string }[]>`
      select id, present::text as present from person_search order by id`;
    for (const [index, { present }] of rows.entries()) {
      const { person } = must(subjects[index], 'subject');
      for (const { name } of personFields) {
        const bit = presenceBit(name);
        if (bit === null) continue;
        const value = person[name];
        const expected = isAbsent(value) ? 0n : 1n;
        expect([name, (BigInt(present) >> BigInt(bit)) & 1n]).toEqual([name, expected]);
      }
    }
  });
});

test('people are found by the current rows that they refer to', async () => {
  const database = await createTestDatabase();
  const { sql } = database;
  try {
    const companies = [{ id: 100, name: 'Acme', headCount: '1-9' }];
    const persons = [{ id: 1, companyId: 100, industryId: 30, cityId: 10 }];
    await importGraph(sql, { companies, persons });
    expect(await find(sql, 'headCount=5')).toEqual([1]);
    expect(await find(sql, 'industryList=Oil')).toEqual([]);
    await importGraph(sql, {
      companies: [{ id: 100, name: 'Acme', headCount: '10-49' }],
      industries: [{ id: 30, name: 'Oil' }],
      countries: [{ id: 1, name: 'Peru', iso2: 'PE' }],
      cities: [{ id: 10, name: 'Lima', countryId: 1 }],
    });
    expect(await find(sql, 'headCount=5')).toEqual([]);
    expect(await find(sql, 'headCount=20&company.name=ACME')).toEqual([1]);
    expect(await find(sql, 'industryList=Oil&industries=*&cities=*')).toEqual([1]);
    expect(await find(sql, 'locationList=lima:peru')).toEqual([1]);
    await deletePersons(sql, [1]);
    expect(await find(sql, 'id=*')).toEqual([]);
  } finally {
    await database.drop();
  }
});

test('opted-out people are never found', async () => {
  const database = await createTestDatabase();
  try {
    await importGraph(database.sql, {
      persons: [
        { id: 1, email: 'a@b.example' },
        { id: 2, email: 'c@d.example' },
      ],
    });
    await suppress(database.sql, 'A@b.example');
    expect(await find(database.sql, 'id=*')).toEqual([2]);
    expect(await find(database.sql, 'email=a@b.example')).toEqual([]);
  } finally {
    await database.drop();
  }
});
