/** An import ends when its rejected rows cannot be written, and is finished by the next one where it was interrupted. */
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { filesOf, noRejects, rowsOf, sourceInput } from '../../../../tests/support/source-input.ts';
import { finishImport, importSource } from './import-source.ts';
import type { SourceRecord, SourceRow } from './source-record.ts';
import { undoImport } from './undo-import.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('ends when the output of rejected rows has failed, as on a full disk', async () => {
  const input = sourceInput({ rows: rowsOf({ line: 2, reason: 'unreadable', source: {} }) });
  const rejects = new Writable();
  rejects.on('error', () => {});
  rejects.destroy(new Error('no space left'));
  await expect(importSource(database.sql, input, { rejects })).rejects.toThrow('no space left');
  const report = await importSource(database.sql, input, { rejects: noRejects() });
  expect(report).toMatchObject({ rows: 1, rejected: 1 });
});

it('counts names and titles again when an import was interrupted before, and not when nothing is left to do', async () => {
  const { sql } = database;
  const record = { name: 'Acme Ltd', registryNumber: '00048839', registryCountry: 'GB' };
  const company: SourceRecord = { entity: 'company', key: '00048839', record };
  const input = sourceInput({ source: 'gb-companies', rows: filesOf([company]) });
  const counted = async () => (await sql`select companies from name_statistics`)[0]?.companies;
  await importSource(sql, input, { rejects: noRejects() });
  expect(await counted()).toBe(1);
  await sql`update name_statistics set companies = 7`;
  // No person has it.
  await sql`insert into lookup_titles (title, people) values ('welder', 10)`;
  const titles = () => sql`select title from lookup_titles`;
  await finishImport(sql, () => {});
  expect(await counted()).toBe(7);
  expect(await titles()).toHaveLength(1);
  await sql`update imports set state = 'running'`;
  await finishImport(sql, () => {});
  expect(await counted()).toBe(1);
  expect(await titles()).toEqual([]);
});

it('records the opt-outs of a snapshot that it refuses, and says so', async () => {
  const { sql } = database;
  const person = (key: string): SourceRow => {
    const record = { name: 'Ida', surname: 'Finch', email: `${key}@home.example` };
    return { line: 2, records: [{ entity: 'person', key, record }] };
  };
  const optOut: SourceRow = { line: 3, optedOut: ['c@home.example'], keys: [['person', 'c']] };
  const snapshot = (asOf: string, rows: readonly SourceRow[], isDryRun = false) => {
    const input = sourceInput({ asOf, snapshotOf: [''], rows: rowsOf(...rows) });
    return importSource(sql, input, { rejects: noRejects(), isDryRun });
  };
  const optedOut = () => sql`select from suppressed_persons`;
  await snapshot('2026-01-01', ['a', 'b', 'c', 'd', 'e'].map(person));
  const unchanged = expect.stringContaining('; nothing was changed.');
  const refused = { code: 'too_many_gone', message: unchanged };
  await expect(snapshot('2026-02-01', [person('a')])).rejects.toMatchObject(refused);
  await expect(snapshot('2026-02-01', [person('a'), optOut], true)).rejects.toMatchObject(refused);
  expect(await optedOut()).toHaveLength(0);
  await expect(snapshot('2026-02-01', [person('a'), optOut])).rejects.toMatchObject({
    code: 'too_many_gone',
    message: expect.stringContaining('; its opt-outs are recorded, nothing else was changed.'),
  });
  expect(await optedOut()).toHaveLength(1);
  expect(await sql`select from persons where surname = 'Finch'`).toHaveLength(5);
});

/** Imports of a source with one company: its record or its end, each in a file of its day. */
function companyOf(source: string) {
  const load = (day: number, row: SourceRow) => {
    const input = sourceInput({ source, asOf: `2026-01-0${day}`, rows: rowsOf(row) });
    return importSource(database.sql, input, { rejects: noRejects() });
  };
  const end: SourceRow = { line: 2, ended: ['company', 'x'] };
  const record: SourceRow = {
    line: 2,
    records: [{ entity: 'company', key: 'x', record: { name: `Xylo ${source}` } }],
  };
  return { load, end, record };
}

it('brings no record by a file from before the last one that ended it', async () => {
  const { load, end, record } = companyOf('deletions');
  await load(1, record);
  await load(2, end);
  expect(await load(4, end)).toMatchObject({ same: 1 });
  expect(await load(3, record)).toMatchObject({ same: 1 });
  expect(await load(5, record)).toMatchObject({ new: 1 });
});

it('brings a record again by a file from before an end that was undone', async () => {
  const { load, end, record } = companyOf('undone-ends');
  await load(1, record);
  await load(2, end);
  const { import_id: later } = await load(4, end);
  await undoImport(database.sql, later ?? 0);
  expect(await load(3, record)).toMatchObject({ new: 1 });
});

it('refuses a snapshot that lacks a record and ends in the middle of a row, in any of its files', async () => {
  const { sql } = database;
  const company = (line: number, key: string): SourceRow => {
    return { line, records: [{ entity: 'company', key, record: { name: key } }] };
  };
  const broken: SourceRow = { line: 4, reason: 'open_quote', source: '"Fin' };
  const load = (asOf: string, ...rows: readonly SourceRow[]) => {
    const input = sourceInput({ source: 'parts', asOf, snapshotOf: [''], rows: rowsOf(...rows) });
    return importSource(sql, input, { rejects: noRejects() });
  };
  const refused = { code: 'too_many_gone', message: expect.stringContaining('middle of a row') };
  const [a, b] = [company(2, 'Acme'), company(3, 'Bolt')];
  await load('2026-01-01', a, b, company(4, 'Finch'));
  await expect(load('2026-01-02', a, b, broken)).rejects.toMatchObject(refused);
  // A line of JSON that ends in the middle of a letter.
  const letter: SourceRow = { line: 4, reason: 'not_utf8', source: '{"name":"Bj' };
  await expect(load('2026-01-02', a, b, letter)).rejects.toMatchObject(refused);
  const others = [company(2, 'Cord'), company(3, 'Dove')];
  await expect(load('2026-01-02', a, b, broken, ...others)).rejects.toMatchObject(refused);
  const report = await load('2026-01-02', a, { ...broken, line: 3 }, company(5, 'Bolt'));
  expect(report).toMatchObject({ rejected: 1, gone: 1 });
});

it('refuses a snapshot that lacks most of a part of its register, however few of all records that are', async () => {
  const { sql } = database;
  const load = (asOf: string, numbers: readonly string[], allowsGone = false) => {
    const records = numbers.map((key): SourceRecord => {
      return { entity: 'company', key, record: { name: key } };
    });
    const rows = filesOf(records);
    const input = sourceInput({ source: 'register', asOf, snapshotOf: [''], rows });
    return importSource(sql, input, { rejects: noRejects(), allowsGone });
  };
  const numbered = (letters: string, count: number) =>
    Array.from({ length: count }, (_, n) => letters + String(n).padStart(8 - letters.length, '0'));
  const [english, scottish] = [numbered('', 1_000), numbered('SC', 40)];
  await load('2026-01-01', [...english, ...scottish]);
  await expect(load('2026-01-02', english)).rejects.toMatchObject({
    code: 'too_many_gone',
    message: expect.stringContaining(
      'lacks 40 of 1040 records that the source had before, most of those that begin with SC among them',
    ),
  });
  expect(await load('2026-01-02', [...english, ...scottish.slice(20)])).toMatchObject({ gone: 20 });
  expect(await load('2026-01-03', english.slice(30))).toMatchObject({ gone: 50 });
  expect(await load('2026-01-04', [...english, ...scottish])).toMatchObject({ new: 70 });
  expect(await load('2026-01-05', english, true)).toMatchObject({ gone: 40 });
});
