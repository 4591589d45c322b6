import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { inTransaction } from '../db/client.ts';
import { AppError } from '../lib/errors.ts';
import { type ParameterKind, searchParameters } from './fields.ts';
import { parseFilter } from './parse.ts';
import { defaultOrder } from './parse-page.ts';
import { prepareFilter } from './prepare.ts';
import { countPeople, selectPage } from './search.sql.ts';

const owner = { accountId: '01900000-0000-7000-8000-000000000000', live: true };
/** Numbers of items around each limit: of comparisons, of compared kinds, of a list. */
const counts = [1, 2, 10, 11, 100, 101, 10_000, 10_001];
const COMPARED_KINDS: readonly ParameterKind[] = ['overlap', 'age', 'time', 'place', 'words'];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  const companies = [{ id: 7, name: 'Acme', headCount: '50-9' }];
  const persons = [
    { id: 1, name: 'Ada', companyId: 7, birthYear: 1980, inferredSalary: '9-5' },
    { id: 2, name: 'Bob', experience: 'Clerk at B; !!!', cityId: 10, regionId: 5, skills: 'SQL' },
  ];
  await importGraph(database.sql, {
    companies,
    persons,
    cities: [{ id: 10, name: 'Bonn', countryId: 3 }],
    countries: [{ id: 3, name: 'Germany', iso2: 'DE' }],
  });
});
afterAll(() => database.drop());

const number = fc.oneof(
  fc.constantFrom(0, 1, 2_147_483_647, 2_147_483_648, Number.MAX_SAFE_INTEGER),
  fc.maxSafeNat(),
  fc.nat(3000),
);
const range = fc
  .tuple(number, fc.option(number))
  .map(([one, other]) =>
    other === null ? `${one}-` : `${Math.min(one, other)}-${Math.max(one, other)}`,
  );
const text = fc.oneof(
  fc.constantFrom('a b', '!!!', 'ﬁ', '\u0301', 'x'.repeat(300), '+', "'", '"', '{}', '😀', '5'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
);
const day = fc.constantFrom(
  ...['0001-01-01', '9999-12-31', '2024-02-29', '0001-01-01..9999-12-31', '2024-01-01T00:00:00..'],
);
const spell = (written: string) => written.replace(/[|[\],*\\]/g, '\\$&');
const itemOf: Readonly<Record<ParameterKind, fc.Arbitrary<string>>> = {
  text: text.map(spell),
  words: text.map(spell),
  skills: text.map(spell),
  integer: fc.oneof(number.map(String), range),
  ids: fc.oneof(number.map(String), range),
  time: day,
  object: fc.constantFrom('*', 'null'),
  choice: fc.constantFrom('1', '2', 'male'),
  overlap: fc.oneof(number.map(String), range),
  age: fc.oneof(number.map(String), range),
  place: text.map((written) => `${spell(written)}:DE`),
  owned: fc.constant('1'),
};

interface Conditions {
  /** Parameters and their numbers of items. */
  items: Record<string, number>;
  query: string;
}

const parameterNames = [...searchParameters.keys()];

/** A condition that repeats some drawn items until there are `count`. */
function condition(name: string, count: number): fc.Arbitrary<string> {
  const kind = searchParameters.get(name)?.kind ?? 'text';
  return fc.array(itemOf[kind], { minLength: 1, maxLength: 30 }).map((drawn) => {
    const items = Array.from({ length: count }, (_, index) => drawn[index % drawn.length]);
    return `${name}=${encodeURIComponent(`[${items.join('|')}]`)}`;
  });
}

function conditions(items: Record<string, number>): fc.Arbitrary<Conditions> {
  return fc
    .tuple(...Object.entries(items).map(([name, count]) => condition(name, count)))
    .map((parts) => ({ items, query: parts.join('&') }));
}

/** Returns whether a filter is refused with 400 that names a parameter, or runs without any error. */
async function isRefusedOrRuns({ items, query }: Conditions): Promise<'refused' | 'runs'> {
  try {
    const prepared = await prepareFilter(database.sql, parseFilter(query), owner);
    const [total, page] = await Promise.all([
      countPeople(database.sql, prepared),
      selectPage(database.sql, prepared, { order: defaultOrder, after: null, limit: 10 }),
    ]);
    expect(page).toHaveLength(total);
    return 'runs';
  } catch (error) {
    if (!(error instanceof AppError)) throw new Error(query.slice(0, 500), { cause: error });
    expect(error).toMatchObject({ status: 400, code: 'invalid_parameter' });
    expect(Object.keys(items)).toContain(error.errors[0]?.field);
    return 'refused';
  }
}

test.each(parameterNames)(
  '%s is refused with its name or runs, around each limit',
  async (name) => {
    for (const count of counts) {
      const [drawn] = fc.sample(conditions({ [name]: count }), { numRuns: 1, seed: count });
      if (drawn !== undefined) await isRefusedOrRuns(drawn);
    }
  },
);

test('all parameters together run at their limits', async () => {
  // Items that every kind accepts, so that nothing is left out.
  const plain: Readonly<Record<ParameterKind, string>> = {
    ...{
      text: 'a b',
      words: 'clerk b',
      skills: 'sql',
      integer: '3-5',
      ids: '3-5',
      time: '2024-01-01',
    },
    ...{ object: '*', choice: '1', overlap: '3-5', age: '3-5', place: 'Bonn:DE', owned: '1' },
  };
  const query = [...searchParameters.values()].map(({ name, kind }) => {
    const count = kind === 'owned' ? 1 : COMPARED_KINDS.includes(kind) ? 100 : 10_000;
    return `${name}=[${new Array<string>(count).fill(plain[kind]).join('|')}]`;
  });
  expect(await isRefusedOrRuns({ items: {}, query: query.join('&') })).toBe('runs');
});

test('random filters around the limits are refused with a parameter name or run', async () => {
  const drawn = fc
    .dictionary(fc.constantFrom(...parameterNames), fc.constantFrom(...counts), {
      minKeys: 1,
      maxKeys: 6,
    })
    .chain(conditions);
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(drawn, async (filter) => void seen.add(await isRefusedOrRuns(filter))),
    { numRuns: 60, seed: 3 },
  );
  expect(seen).toEqual(new Set(['refused', 'runs']));
});

test.each(COMPARED_KINDS)(
  'more than 100 items of the kind %s are refused with the parameter name',
  (kind) => {
    const name = [...searchParameters.values()].find((parameter) => parameter.kind === kind)?.name;
    const [drawn] = fc.sample(conditions({ [name ?? '']: 101 }), { numRuns: 1, seed: 1 });
    expect(() => parseFilter(drawn?.query ?? '')).toThrow(/takes at most 100 items/);
  },
);

const numbers = ['id', 'birthYear', 'cityId', 'companyId', 'industryId'];

test.each([
  ['conditions', (items: string) => numbers.map((name) => `${name}=${items}`).join('&')],
  ['words', (items: string) => `position.text=${items}`],
  ['ranges', (items: string) => `salary=${items}`],
  ['years', (items: string) => `ageRange=${items}`],
  ['numbers', (items: string) => `birthYear=${items}`],
  [
    'days',
    (items: string) =>
      `createdAt=${items.replaceAll(/(\d+)-\d+/g, '2024-01-01T00:00:$1').replaceAll(/:(\d)\b/g, ':0$1')}`,
  ],
])(
  'filters of many %s, of endless forms, leave no statement with their connection',
  async (_of, filterOf) => {
    await inTransaction(database.sql, async (tx) => {
      // Short filters of other tests are kept.
      const kept = () => tx`
      select statement from pg_prepared_statements
      where strpos(statement, ${'from person_search s'}) > 0 order by statement`;
      const before = await kept();
      const items = ['1-2', '3-4', '5-6', '7-8', '10-11'];
      for (const more of [[], ['13-14'], ['13-14', '16-17']]) {
        const filter = parseFilter(filterOf(`[${[...items, ...more].join('|')}]`));
        const prepared = await prepareFilter(tx, filter, owner);
        await countPeople(tx, prepared);
        await selectPage(tx, prepared, { order: defaultOrder, after: null, limit: 10 });
      }
      expect(await kept()).toEqual(before);
    });
  },
);
