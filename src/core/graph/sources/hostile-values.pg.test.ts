/** Values that no column or index can hold, of files that others wrote: they end no import. */
import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { filesOf, noRejects, rowsOf, sourceInput } from '../../../../tests/support/source-input.ts';
import { importValues, readCompany, readPerson } from '../import/import-harness.test-suite.ts';
import { importSource } from './import-source.ts';
import type { SourceRecord, SourceRow } from './source-record.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

/** As random as it is, it does not become shorter in an index. */
const long = () => randomBytes(8192).toString('base64').replace(/[+/]/g, ' ');
/** Short, and long when it is folded: each letter is three of three bytes. */
const decomposed = () =>
  String.fromCharCode(...Array.from(randomBytes(600), (byte) => 0xac01 + byte * 28));

async function load(records: readonly SourceRecord[]) {
  const rejected: Record<string, unknown>[] = [];
  const rejects = new Writable({
    write(chunk: Buffer, _encoding, done) {
      rejected.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  const input = sourceInput({ rows: filesOf(records) });
  const report = await importSource(database.sql, input, { rejects });
  return { report, rejected: rejected.map(({ field, reason }) => [field, reason]) };
}

const person = (key: string, record: object): SourceRecord => ({
  entity: 'person',
  key,
  record: { email: `${key}@home.example`, ...record },
});

it('of a person or company of a source are left out, whichever they are', async () => {
  for (const text of [long, decomposed]) {
    const name = { name: text(), surname: text(), birthYear: 1980 };
    await load([
      person('a', { ...name, workEmail: text(), professional_network: text(), domain: text() }),
      person('b', { surname: 'Bell', position: text(), skills: `Latin, ${text()}` }),
      { entity: 'company', key: 'c', record: { name: text(), domain: 'acme.example' } },
    ]);
  }
  const people = await database.sql<{ email: string; surname: string }[]>`
    select email, surname from persons order by email`;
  expect(people).toEqual([
    { email: 'a@home.example', surname: '' },
    { email: 'b@home.example', surname: 'Bell' },
  ]);
  expect((await load([person('d', {})])).report.new).toBe(1);
});

it('of an officer, a period or a key are left out, or reject a row that says nothing without them', async () => {
  const company = { entity: 'company', key: 'c', record: { name: 'Acme' } } as const;
  const officer = (key: string, record: object): SourceRecord => {
    return { entity: 'officer', key, record: { ...record }, company: ['key:partners/c'] };
  };
  const period = (periodEnd: string, record: object): SourceRecord => {
    const given = { periodEnd, ...record };
    return { entity: 'financial', key: periodEnd, record: given, company: ['key:partners/c'] };
  };
  const { report, rejected } = await load([
    company,
    officer('1', { name: long(), role: 'Director', birthYear: 1980 }),
    officer('2', { name: 'Ada', role: long(), birthYear: 2 ** 40, birthMonth: 13 }),
    officer('3', { name: 'B\0ob\ud800', role: 'Director', appointedOn: '2024-99-99' }),
    period('2024-02-30', { revenue: 1 }),
    period('2024-12-31', { revenue: 1e30, employees: 2 ** 40, netAssets: 7 }),
    person(long(), {}),
    person('a\0b', {}),
  ]);
  expect(rejected).toEqual([
    ['name', 'too_long'],
    ['periodEnd', 'not_a_date'],
    ['key', 'too_long'],
    ['key', 'too_long'],
  ]);
  expect(report).toMatchObject({ rows: 8, new: 4, rejected: 4 });
  const officers = await database.sql`
    select name, role, birth_year, birth_month, appointed_on from officers order by name`;
  const none = { birthYear: null, birthMonth: null, appointedOn: null };
  expect(officers).toEqual([
    { name: 'Ada', role: '', ...none },
    { name: 'B\ufffdob\ufffd', role: 'Director', ...none },
  ]);
  const periods = await database.sql`select revenue, employees, net_assets from financial_periods`;
  expect(periods).toEqual([{ revenue: null, employees: null, netAssets: 7 }]);
});

it('of files with ids of one’s own are left out, or reject a row that says nothing without them', async () => {
  const { sql } = database;
  const name = { name: long(), surname: long(), birthYear: 1980 };
  const contact = { email: long(), workEmail: long(), professional_network: long() };
  const others = { domain: long(), position: long(), skills: long(), positionId: 7 };
  await importValues(sql, 'persons', [{ id: 1, ...name, ...contact, ...others }, { id: 2 }]);
  expect(await readPerson(sql, 1)).toMatchObject({ name: '', email: '', position: '', skills: '' });
  const { rejects } = await importValues(sql, 'companies', [
    { id: 5, name: long(), aliases: [long(), 'Fünf'] },
    { id: 6, directors: [{ name: long(), position: 'Director' }] },
  ]);
  expect(await readCompany(sql, 5)).toMatchObject({ name: '' });
  const titles = await importValues(sql, 'positions', [{ id: 8, name: long() }]);
  const facts = await importValues(sql, 'officers', [{ companyId: 5, name: long() }]);
  const all = [...rejects, ...titles.rejects, ...facts.rejects];
  expect(all.map(({ field, reason }) => [field, reason])).toEqual([
    ['directors', 'too_long'],
    ['name', 'too_long'],
    ['name', 'too_long'],
  ]);
});

it('of rows without a record are left out, and a row that cannot be read hides none of its key', async () => {
  const rows: readonly SourceRow[] = [
    { line: 2, records: [person('a', { name: 'Ada' })] },
    { line: 3, reason: 'columns_moved', source: {}, seen: ['a'] },
    { line: 4, reason: 'columns_moved', source: {}, seen: [long()] },
    { line: 5, reason: 'columns_moved', source: {}, seen: ['a\0b'] },
    { line: 6, optedOut: ['b@home.example'], keys: [['person', long()]] },
  ];
  const input = sourceInput({ rows: rowsOf(...rows) });
  const report = await importSource(database.sql, input, { rejects: noRejects() });
  expect(report).toMatchObject({ rows: 5, new: 1, rejected: 3 });
  expect(await database.sql`select name from persons`).toEqual([{ name: 'Ada' }]);
});

it('of an officer reject a row of a snapshot that ends neither the officer nor the person', async () => {
  const company: SourceRecord = { entity: 'company', key: 'c', record: { name: 'Acme' } };
  const rowOf = (number: number, name: string): SourceRow => {
    const officer = { name, role: 'Director' };
    return {
      line: 10 + number,
      records: [
        {
          entity: 'officer',
          key: `o${number}`,
          record: officer,
          company: ['key:partners/c'],
          person: `p${number}`,
        },
        person(`p${number}`, { surname: `Bell ${number}` }),
      ],
    };
  };
  const importRows = (...rows: readonly SourceRow[]) => {
    const all = rowsOf({ line: 2, records: [company] }, ...rows);
    const input = sourceInput({ rows: all, snapshotOf: [''] });
    return importSource(database.sql, input, { rejects: noRejects() });
  };
  await importRows(rowOf(1, 'Ada'), rowOf(2, 'Bo'), rowOf(3, 'Cy'));
  const report = await importRows(rowOf(1, long()), rowOf(3, 'Cy'));
  expect(report).toMatchObject({ rejected: 1 });
  const names = (table: string, column: string) =>
    database.sql`select ${database.sql(column)} as name from ${database.sql(table)} order by 1`;
  expect(await names('officers', 'name')).toEqual([{ name: 'Ada' }, { name: 'Cy' }]);
  expect(await names('persons', 'surname')).toEqual([{ name: 'Bell 1' }, { name: 'Bell 3' }]);
});
