/** An import ends when its rejected rows cannot be written, and lets the next one run. */
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { importSource, type SourceInput } from './import-source.ts';

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
