/** An import of several files, of which each counts its lines anew. */
import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { filesOf, sourceInput } from '../../../../tests/support/source-input.ts';
import { importSource } from './import-source.ts';
import type { SourceRecord } from './source-record.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

async function load(...files: readonly (readonly SourceRecord[])[]) {
  const rejected: { line: number; reason: string }[] = [];
  const rejects = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const { line, reason } = JSON.parse(chunk.toString());
      rejected.push({ line, reason });
      done();
    },
  });
  const input = sourceInput({
    source: 'register',
    files: files.map((_, index) => `part-${index}.csv`),
    rows: filesOf(...files),
  });
  return { report: await importSource(database.sql, input, { rejects }), rejected };
}

const company = (key: string, name: string): SourceRecord => {
  return { entity: 'company', key, record: { name } };
};
const officer = (key: string, of: string): SourceRecord => {
  const record = { name: `Officer ${key}`, role: 'Director' };
  return { entity: 'officer', key, record, company: [`key:register/${of}`] };
};

it('an officer without a company takes no row of another file with it', async () => {
  const { report, rejected } = await load(
    [company('c', 'Acme'), officer('1', 'unknown'), officer('2', 'c')],
    [officer('3', 'c'), officer('4', 'c'), officer('5', 'unknown')],
  );
  expect(rejected).toEqual([
    { line: 3, reason: 'no_such_company' },
    { line: 4, reason: 'no_such_company' },
  ]);
  expect(report).toMatchObject({ rows: 6, new: 4, rejected: 2 });
  const officers = await database.sql<{ name: string }[]>`select name from officers order by name`;
  expect(officers.map(({ name }) => name)).toEqual(['Officer 2', 'Officer 3', 'Officer 4']);
});

it('of a record that is on the same line of two files the later one counts', async () => {
  const { report } = await load([company('c', 'Old')], [company('c', 'New')]);
  expect(report).toMatchObject({ rows: 2, new: 1 });
  expect(await database.sql`select name from companies`).toEqual([{ name: 'New' }]);
});
