/** One suite for all readers of people: random graphs, changes and lists have the same outcomes and bytes in each. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
import type { Database } from '../db/client.ts';
import type { StoredPerson } from '../enrich/people-reader.ts';
import { deletePersons } from '../graph/delete-persons.ts';
import { type OperationName, operations } from '../operations.ts';
import { suppress } from '../suppression/suppress.ts';

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

const personal = (Object.keys(operations) as OperationName[]).filter(
  (name) => operations[name].subject === 'person',
);

/** Expects that the copy answers rows of every operation, and that it and the reader of single calls do as Postgres does. */
async function expectSame(cells: readonly Cells[]): Promise<ShownOutcome[]> {
  const rowsOf = (operation: OperationName) => cells.map((row) => rowOf(operation, row));
  const values = valuesOf(rowsOf('people.enrich'));
  await readers.expectSame(async ({ people }) =>
    hitsOf(await people.lookUp(values), values.length),
  );
  const all: ShownOutcome[] = [];
  for (const operation of personal) {
    all.push(...(await readers.expectSameOutcomes(operation, rowsOf(operation))));
  }
  return all;
}

/** Expects that the copy reads people by id, in both widths, and as Postgres does. */
function expectSameById(ids: readonly number[]) {
  const shown = (person: StoredPerson) => (person === 'opted_out' ? person : textOf(person));
  return readers.expectSame(async ({ people }) => ({
    briefs: (await people.readInOrder(ids, { brief: true })).map(shown),
    records: (await people.readInOrder(ids, { brief: false })).map(shown),
  }));
}

type Cells = Partial<Record<'email' | 'phone' | 'twitter' | 'professional_network', string>>;

// Few values, so that people share them.
const email = fc.constantFrom(...'abcd'.split('').map((letter) => `${letter}@home.example`));
const phone = fc.constantFrom('+441632960001', '+441632960002', '+441632960003');
const handle = fc.constantFrom('ann', 'ben', 'müller', 'zoë-漢字');
const cellsOf: fc.Arbitrary<Cells> = fc.record(
  { email, phone, twitter: fc.constantFrom('ann', 'ben'), professional_network: handle },
  { requiredKeys: [] },
);
const personOf = fc.record({
  id: fc.integer({ min: 1, max: 8 }),
  name: fc.constantFrom('Ann', 'Zoë', '漢字 "x"'),
  summary: fc.constantFrom('', 'Long\nand, "quoted"', 's'.repeat(3000)),
  companyId: fc.constantFrom(0, 10, 99),
  email,
  workEmail: fc.oneof(fc.constant(''), email),
  phone: fc.oneof(fc.constant(''), phone),
  mobile: fc.option(phone),
  twitter: fc.option(fc.constantFrom('ann', 'ben')),
  professional_network: fc.oneof(fc.constant(''), handle),
});
const changeOf = fc.oneof(
  personOf.map((person) => ({ name: 'import', person }) as const),
  fc.integer({ min: 1, max: 8 }).map((id) => ({ name: 'delete', id }) as const),
  fc.constant({ name: 'roll forward' } as const),
  email.map((value) => ({ name: 'opt-out', value }) as const),
  phone.map((value) => ({ name: 'opt-out', value }) as const),
);

async function clear(): Promise<void> {
  await sql`truncate persons, person_identifiers, person_records, person_briefs, person_search,
    person_name_keys, keyed_persons, suppressed_identifiers, suppressed_persons`;
}

const company = { id: 10, name: 'Acme Ltd' };

describe('postgres and the copy', () => {
  test('give the same outcomes and bytes, also after changes', async () => {
    let matches = 0;
    const property = fc.asyncProperty(
      fc.array(personOf, { minLength: 1, maxLength: 8 }),
      fc.array(changeOf, { maxLength: 4 }),
      fc.array(cellsOf, { minLength: 1, maxLength: 12 }),
      fc.subarray([1, 2, 3, 4, 5, 6, 7, 8, 9]),
      async (persons, changes, cells, someIds) => {
        await clear();
        await importGraph(sql, { companies: [company], persons });
        await suppress(sql, 'd@home.example');
        await readers.build();
        await expectSame(cells);
        await expectSameById(someIds);
        for (const change of changes) {
          if (change.name === 'opt-out') await suppress(sql, change.value);
          else if (change.name === 'delete') await deletePersons(sql, [change.id]);
          else if (change.name === 'roll forward') await readers.rollForward();
          else await importGraph(sql, { persons: [change.person] });
          await expectSameById(someIds);
          const outcomes = JSON.stringify(await expectSame(cells));
          matches += outcomes.split('"matched"').length - 1;
        }
      },
    );
    await fc.assert(property, { numRuns: 8 });
    expect(matches).toBeGreaterThan(15);
  }, 240_000);

  test('agree on a value that more people hold than a look-up returns', async () => {
    await clear();
    const crowd = (number: number, from: number) =>
      Array.from({ length: number }, (_, index) => {
        return { id: from + index, email: `p${from + index}@home.example`, phone: '+441632960001' };
      });
    const cells = [
      { phone: '+441632960001' },
      { email: 'p3@home.example', phone: '+441632960001' },
    ];
    // One less than is returned, exactly as many, and more.
    for (const [number, from, reason] of [
      [99, 1, 'shared_by_99_records'],
      [1, 200, 'shared_by_100_or_more_records'],
      [60, 300, 'shared_by_100_or_more_records'],
    ] as const) {
      await importGraph(sql, { persons: crowd(number, from) });
      await readers.build();
      expect(JSON.stringify(await expectSame(cells))).toContain(reason);
      // Half of them in a delta.
      await sql`update person_briefs set brief = brief where id % 2 = 0`;
      await readers.rollForward();
      expect(JSON.stringify(await expectSame(cells))).toContain(reason);
    }
    // People who changed since count too.
    await importGraph(sql, { persons: crowd(60, 400) });
    await expectSame(cells);
  });

  test('read the same people by id, near to each other and far apart', async () => {
    await clear();
    const people = Array.from({ length: 300 }, (_, index) => {
      return {
        id: 10 + index * 3,
        email: `p${index}@home.example`,
        summary: 's'.repeat(index * 9),
      };
    });
    await importGraph(sql, { persons: people });
    await suppress(sql, 'p40@home.example');
    await readers.build();
    await suppress(sql, 'p41@home.example');
    await importGraph(sql, { persons: [{ id: 11, email: 'new@home.example' }] });
    const all = Array.from({ length: 1000 }, (_, id) => id);
    const { briefs } = await expectSameById(all);
    expect(briefs.filter((person) => person === 'opted_out')).toHaveLength(2);
    expect(briefs.filter((person) => person !== null)).toHaveLength(301);
    await expectSameById([]);
    await readers.rollForward();
    await expectSameById(all);
    for (const apart of [7, 100, 450]) await expectSameById(all.filter((id) => id % apart === 1));
    for (const id of [1, 10, 907, 5000]) await expectSameById([id]);
  });

  test('agree while an identifier passes from one person to another', async () => {
    await clear();
    await importGraph(sql, { persons: [{ id: 1, email: 'a@home.example' }] });
    await readers.build();
    const cells = [{ email: 'a@home.example' }, { email: 'b@home.example' }];
    const idOf = async () => JSON.stringify(await expectSame(cells)).match(/"id":[1-9]\d*/)?.[0];
    expect(await idOf()).toBe('"id":1');
    await importGraph(sql, {
      persons: [
        { id: 1, email: 'b@home.example' },
        { id: 2, email: 'a@home.example' },
      ],
    });
    expect(await idOf()).toBe('"id":2');
    await readers.rollForward();
    expect(await idOf()).toBe('"id":2');
    await importGraph(sql, { persons: [{ id: 2, email: 'c@home.example' }] });
    expect(await idOf()).toBe('"id":1');
    await readers.rollForward();
    expect(await idOf()).toBe('"id":1');
  });
});
