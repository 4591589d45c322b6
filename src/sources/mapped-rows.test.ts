import { describe, expect, test } from 'vitest';
import { heldKey } from '../core/graph/sources/source-record.ts';
import { mappedRow } from './mapped-rows.ts';
import type { SourceMapping } from './source-mapping.ts';

/** The rows of a file whose columns have the names of the fields. */
function rowsOf(of: SourceMapping['of'], ...given: readonly Record<string, string>[]) {
  const fields = [...new Set(given.flatMap((row) => Object.keys(row)))];
  const columns = Object.fromEntries(fields.map((field) => [field, [field]]));
  const holders = new Map<string, string>();
  return given.map((row, index) =>
    mappedRow(
      'partners',
      { of, columns },
      { line: index + 2, get: (name) => row[name] ?? '', source: () => row },
      holders,
    ),
  );
}

const keysOf = (rows: ReturnType<typeof rowsOf>) =>
  rows.map((row) => ('records' in row ? row.records[0].key : 'reason' in row ? row.reason : row));
const recordOf = (row: ReturnType<typeof rowsOf>[number] | undefined) =>
  row !== undefined && 'records' in row ? row.records[0].record : row;

describe('companies of one file stay apart', () => {
  test('whose numbers and sites are cells without a value', () => {
    const rows = rowsOf(
      'companies',
      { name: 'Acme', registry_number: 'n/a', domain: 'k.A.', country: 'DE' },
      { name: 'Bolt', registry_number: '-', domain: 'k.A.', country: 'DE' },
      { name: 'Cord', registry_number: 'nan', domain: 'n.a.', country: 'n/a' },
    );
    expect(keysOf(rows)).toEqual([
      heldKey('company:name:acme', 'de'),
      heldKey('company:name:bolt', 'de'),
      heldKey('company:name:cord', ''),
    ]);
    expect(recordOf(rows[0])).toEqual({
      name: 'Acme',
      locality: 'DE',
      _country: 'DE',
    });
    expect(recordOf(rows[2])).toEqual({ name: 'Cord' });
  });

  test('that share a site, a number of two registers or a name in two towns', () => {
    const country = 'DE';
    expect(
      keysOf(
        rowsOf(
          'companies',
          { name: 'Acme GmbH', domain: 'acme.example' },
          { name: 'Acme Austria GmbH', domain: 'acme.example' },
          { name: 'Acme GmbH', domain: 'acme.example' },
        ),
      ),
    ).toEqual([
      heldKey('company:acme.example', 'acme gmbh'),
      heldKey('company:acme.example', 'acme austria gmbh'),
      heldKey('company:acme.example', 'acme gmbh'),
    ]);
    expect(
      keysOf(
        rowsOf(
          'companies',
          { name: 'Nord AG', registry_number: 'HRB 1', country },
          { name: 'Sued AG', registry_number: 'HRB 1', country },
        ),
      ),
    ).toEqual([heldKey('company:HRB 1', 'nord ag'), heldKey('company:HRB 1', 'sued ag')]);
    const towns = rowsOf(
      'companies',
      { name: 'Autohaus Ott', city: 'Ulm' },
      { name: 'Autohaus Ott', city: 'Bonn' },
    );
    expect(new Set(keysOf(towns)).size).toBe(2);
  });

  test('and a second one under a key, or under one that a spreadsheet has shortened, is rejected', () => {
    const rows = rowsOf(
      'companies',
      { key: '1', name: 'Acme' },
      { key: '1', name: 'Bolt' },
      { key: '1.76543E+11', name: 'Cord' },
    );
    expect(keysOf(rows)).toEqual(['company:1', 'key_twice', 'digits_lost']);
  });
});

describe('people of one file', () => {
  test('under one key are not taken for one, and the opt-out of the second one holds', () => {
    const rows = rowsOf(
      'persons',
      { key: '7', full_name: 'Ada Lark', email: 'ada@acme.example' },
      { key: '7', full_name: 'Bo Finch', email: 'bo@acme.example' },
      { key: '7', full_name: 'Cy Wren', email: 'cy@acme.example', opt_out: 'yes' },
      { key: '2.5E+11', full_name: 'Di Swan', email: 'di@acme.example', opt_out: 'WAHR' },
      { key: 'nan', full_name: 'Ed Dove', email: 'ed@acme.example' },
    );
    expect(keysOf(rows)).toEqual([
      '7',
      'key_twice',
      expect.objectContaining({
        optedOut: ['cy@acme.example'],
        keys: [['person', heldKey('cy@acme.example', 'cy wren')]],
      }),
      expect.objectContaining({
        optedOut: ['di@acme.example'],
        keys: [['person', heldKey('di@acme.example', 'di swan')]],
      }),
      heldKey('ed@acme.example', 'ed dove'),
    ]);
  });

  test('of one name without an address are told apart by company and town', () => {
    const [ada, other, same] = keysOf(
      rowsOf(
        'persons',
        { full_name: 'Ada Lark', company_name: 'Acme', city: 'Ulm' },
        { full_name: 'Ada Lark', company_name: 'Bolt', city: 'Ulm' },
        { full_name: 'Ada Lark', company_name: 'Acme', city: 'Ulm' },
      ),
    );
    expect(other).not.toEqual(ada);
    expect(same).toEqual(ada);
  });

  test.each(['nan', 'None', 'n/a', '#N/A', '-', '0', 'no', 'k.A.'])(
    'have no profile, phone, post or city when the cells are %s',
    (none) => {
      const [row] = rowsOf('persons', {
        full_name: 'Ada Lark',
        email: 'ada@acme.example',
        professional_network: none,
      });
      expect(recordOf(row)).toEqual({
        name: 'Ada',
        surname: 'Lark',
        workEmail: 'ada@acme.example',
      });
    },
  );

  test('keep names that are words for nothing, and the country NA', () => {
    const [row] = rowsOf('persons', {
      given_name: 'Nan',
      family_name: 'Na',
      email: 'nan@acme.example',
      country: 'NA',
      city: 'n/a',
      job_title: 'None',
    });
    expect(recordOf(row)).toEqual({
      name: 'Nan',
      surname: 'Na',
      workEmail: 'nan@acme.example',
      locality: 'NA',
      _country: 'NA',
    });
  });

  test.each([
    ['Lark, Ada', 'Ada', 'Lark'],
    ['Lark, Earl', 'Earl', 'Lark'],
    ['Ada Lark, PhD', 'Ada', 'Lark'],
    ['Ada Lark, Justice', 'Ada', 'Lark'],
    ['John Smith, Jr.', 'John', 'Smith Jr.'],
    ['Ada B. Lark, MBA, CFA', 'Ada B.', 'Lark'],
  ])('are named as %s says', (full, name, surname) => {
    const [row] = rowsOf('persons', { full_name: full, email: 'ada@acme.example' });
    expect(recordOf(row)).toMatchObject({ name, surname });
  });

  test('opted out by all addresses and mobile numbers of a cell', () => {
    const [row] = rowsOf('persons', {
      email: 'ada@acme.example; ada@home.example',
      mobile: '+44 7700 900001 / +44 7700 900002',
      opt_out: 'yes',
    });
    const numbers = ['+447700900001', '+447700900002'];
    expect(row).toMatchObject({ optedOut: ['ada@acme.example', 'ada@home.example', ...numbers] });
  });

  test.each(['https://twitter.com/Ada_Lark', '@ada_lark', 'Ada_Lark'])(
    'opted out by the handle %s',
    (twitter) => {
      const [row] = rowsOf('persons', { full_name: 'Ada Lark', twitter, opt_out: 'yes' });
      expect(row).toMatchObject({ optedOut: ['@ada_lark'] });
    },
  );

  test.each(['true', 'WAHR', 'VRAI', 'Ja', '1.0', 'x', '2024-05-01', 'Unsubscribed', 'opted-out'])(
    'opted out when the cell is %s',
    (answer) => {
      const [row] = rowsOf('persons', { email: 'ada@acme.example', opt_out: answer });
      expect(row).toMatchObject({ optedOut: ['ada@acme.example'] });
    },
  );

  test.each(['', 'FALSCH', 'no', '0', 'n/a', 'nan', 'subscribed'])(
    'did not opt out when the cell is %s',
    (answer) => {
      const [row] = rowsOf('persons', { email: 'ada@acme.example', opt_out: answer });
      expect(row).toMatchObject({ records: [{ key: heldKey('ada@acme.example', '') }] });
    },
  );

  test('are rejected when the cell of the opt-out says neither', () => {
    const [row] = rowsOf('persons', { email: 'ada@acme.example', opt_out: 'newsletter' });
    expect(row).toMatchObject({ reason: 'unclear_opt_out' });
  });
});

test.each([
  ['250.0', 250],
  ['1,200', 1200],
  ['1.200', 1200],
  ['12 000', 12_000],
  ['12.5', undefined],
  ['1-10', undefined],
])('a company with %s employees has %s', (text, employees) => {
  const [row] = rowsOf('companies', { name: 'Acme', employees: text });
  expect((recordOf(row) as { employees?: number }).employees).toBe(employees);
});
