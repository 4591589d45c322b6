/** An import ends when its rejected rows cannot be written, and is finished by the next one where it was interrupted. */
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { finishImport, importSource, type SourceInput } from './import-source.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('ends when the output of rejected rows has failed, as on a full disk', async () => {
  const input: SourceInput = {
    source: 'partners',
    files: ['partners.csv'],
    asOf: '2026-01-01',
    snapshotOf: null,
    async *rows() {
      yield [{ line: 2, reason: 'unreadable', source: {} }];
    },
    sha256: () => Buffer.alloc(32),
  };
  const rejects = new Writable();
  rejects.on('error', () => {});
  rejects.destroy(new Error('no space left'));
  await expect(importSource(database.sql, input, { rejects })).rejects.toThrow('no space left');
  const written = new Writable({ write: (_chunk, _encoding, done) => done() });
  const report = await importSource(database.sql, input, { rejects: written });
  expect(report).toMatchObject({ rows: 1, rejected: 1 });
});

it('counts names and titles again when an import was interrupted before, and not when nothing is left to do', async () => {
  const { sql } = database;
  const record = { name: 'Acme Ltd', registryNumber: '00048839', registryCountry: 'GB' };
  const input: SourceInput = {
    source: 'gb-companies',
    files: ['companies.csv'],
    asOf: '2026-01-01',
    snapshotOf: null,
    async *rows() {
      yield [{ line: 2, records: [{ entity: 'company', key: '00048839', record }] }];
    },
    sha256: () => Buffer.alloc(32),
  };
  const rejects = new Writable({ write: (_chunk, _encoding, done) => done() });
  const counted = async () => (await sql`select companies from name_statistics`)[0]?.companies;
  await importSource(sql, input, { rejects });
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
