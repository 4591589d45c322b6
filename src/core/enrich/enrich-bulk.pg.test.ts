import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { rowOf } from '../../../tests/support/rows.ts';
import { smallGraph } from '../../../tests/support/small-graph.ts';
import { personFields } from '../graph/fields.ts';
import type { IdentifierKind } from '../identifiers/identifier.ts';
import { type OperationName, operations } from '../operations.ts';
import { suppress } from '../suppression/suppress.ts';
import { enrichMany, type Outcome } from './enrich-many.ts';
import { matchToJson, needsOnlyBrief, outputColumns, recordCellAt } from './match-data.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await importGraph(database.sql, smallGraph);
  await suppress(database.sql, 'out@home.example');
});
afterAll(() => database.drop());

/** Texts that the small graph contains, some of them shared, and texts that it does not contain. */
const texts: Partial<Record<IdentifierKind, string[]>> = {
  professional_network: ['ada-lovely', 'bob-brown', 'opt-out', 'acme-widgets', 'nobody-here', ''],
  email: ['ada@home.example', 'ada@acme.example', 'bob@acme.example', 'out@acme.example', 'x@y'],
  phone: ['+441632960001', '+441632960099', '+441632960200 / +441632960100', '12', '+44163296'],
  twitter: ['ada', 'eve_old', '@eve', 'who is this'],
  registry_number: ['1234567', 'SC123456', 'FR-552100554', '99999999', 'no number'],
  domain: ['acme.example', 'shop.acme.example', 'acme-widgets.example', 'nowhere.example', 'x'],
  name: ['Acme Widgets', 'Gamma', 'Old Beta', 'Gamma Group of Lyon', 'Nobody GmbH', '??'],
};

const noise = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.emailAddress(),
  fc.domain(),
);

function cellOf(kind: IdentifierKind) {
  return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...(texts[kind] ?? [''])) }, noise);
}

const operationAndRows = fc
  .constantFrom(...(Object.keys(operations) as OperationName[]))
  .chain((operation) => {
    const cells = Object.fromEntries(
      operations[operation].identifiers.map((kind) => [kind, cellOf(kind)]),
    );
    const row = fc.record(cells, { requiredKeys: [] });
    return fc.tuple(fc.constant(operation), fc.array(row, { maxLength: 12 }));
  });

function shown(operation: OperationName, { match, ...rest }: Outcome) {
  return { ...rest, data: match === null ? null : JSON.parse(matchToJson(operation, match)) };
}

test('many rows together have the outcomes that each of them has alone, in their order', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(operationAndRows, async ([operation, list]) => {
      const rows = list.map((cells) => rowOf(operation, cells));
      const together = await enrichMany(database.sql, operation, rows);
      const alone: Outcome[] = [];
      for (const row of rows) alone.push(...(await enrichMany(database.sql, operation, [row])));
      expect(together).toHaveLength(rows.length);
      expect(together.map((outcome) => shown(operation, outcome))).toEqual(
        alone.map((outcome) => shown(operation, outcome)),
      );
      for (const { status } of together) seen.add(status);
    }),
    { numRuns: 150 },
  );
  // The property proves little unless the rows had every possible outcome.
  const statuses = ['ambiguous', 'invalid', 'matched', 'no_match'];
  expect([...seen].sort()).toEqual(statuses);
});

test('a brief match is the full one with its long cells empty, in order, for any number of rows', async () => {
  const emails = ['ada@home.example', 'bob@home.example', 'eve@home.example', 'out@home.example'];
  const rows = Array.from({ length: 2_500 }, (_, index) =>
    rowOf('people.enrich', { email: emails[index % emails.length] ?? '' }),
  );
  const full = await enrichMany(database.sql, 'people.enrich', rows);
  const brief = await enrichMany(database.sql, 'people.enrich', rows, { brief: true });
  expect(brief.map(({ status }) => status)).toEqual(full.map(({ status }) => status));
  for (const [index, { match }] of full.entries()) {
    const short = brief[index]?.match ?? null;
    for (const [cell, field] of personFields.entries()) {
      const expected = field.long ? '' : recordCellAt(match?.person ?? null, cell);
      expect(recordCellAt(short?.person ?? null, cell), field.name).toBe(expected);
    }
  }
  expect(full[0]?.status).toBe('matched');
  expect(full[3]?.status).toBe('no_match');
});

test('only operations that need no long cell read brief records', () => {
  const asks = (operation: OperationName, fields: string[] | null) =>
    needsOnlyBrief(operation, outputColumns(operation, fields));
  expect(asks('people.enrich', ['name', 'email', 'phone'])).toBe(true);
  expect(asks('people.enrich', ['name', 'summary'])).toBe(false);
  expect(asks('people.enrich', null)).toBe(false);
  expect(asks('people.enrich-with-company', ['person.name'])).toBe(false);
  expect(asks('people.mobile', null)).toBe(true);
  // Success and agreement read these cells.
  const read = ['name', 'surname', 'company', 'pastCompany', 'mobile', 'workEmail', 'whenUpdated'];
  expect(personFields.filter(({ name, long }) => read.includes(name) && long)).toEqual([]);
});

test('no rows have no outcomes', async () => {
  expect(await enrichMany(database.sql, 'people.enrich', [])).toEqual([]);
});
