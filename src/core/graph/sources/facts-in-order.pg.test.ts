/** Officers and financial periods are the same whatever order their files come in. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { filesOf, noRejects, sourceInput } from '../../../../tests/support/source-input.ts';
import { importValues } from '../import/import-harness.test-suite.ts';
import { importSource } from './import-source.ts';
import type { SourceRecord } from './source-record.ts';
import { undoImport } from './undo-import.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const number = { registryNumber: '00048839', registryCountry: 'GB' };
const company: SourceRecord = {
  entity: 'company',
  key: 'acme',
  record: { name: 'Acme', ...number },
};
const office = { name: 'Ada Lark', role: 'director', appointedOn: '2020-01-01' };
const period = { periodEnd: '2025-12-31', currency: 'GBP', revenue: 7 };

/** Returns the id of the import. */
async function load(asOf: string, ...records: SourceRecord[]): Promise<number | null> {
  const given = records.map((record) => ({ ...record, company: ['registry:GB-00048839'] }));
  const input = sourceInput({ source: 'register', asOf, rows: filesOf(given) });
  return (await importSource(database.sql, input, { rejects: noRejects() })).import_id;
}

it('those of a file of one’s own stay when the source that had them too has them no more', async () => {
  const { sql } = database;
  await load('2026-01-01', company);
  const facts = await load(
    '2026-01-02',
    { entity: 'officer', key: 'o', record: office },
    { entity: 'financial', key: 'f', record: period },
  );
  await importValues(sql, 'officers', [{ ...number, ...office }]);
  await importValues(sql, 'financials', [{ ...number, ...period }]);
  await undoImport(sql, facts ?? 0);
  expect(await sql`select name from officers`).toEqual([{ name: 'Ada Lark' }]);
  expect(await sql`select revenue from financial_periods`).toMatchObject([{ revenue: 7 }]);
});

it('officers of a file of one’s own keep what it says when a source has them too', async () => {
  const { sql } = database;
  await load('2026-01-01', company);
  await importValues(sql, 'officers', [{ ...number, ...office, resignedOn: '2023-03-03' }]);
  await load('2026-01-02', { entity: 'officer', key: 'o', record: office });
  const rows = await sql`select resigned_on::text from officers`;
  expect(rows).toEqual([{ resignedOn: '2023-03-03' }]);
});

it.each([
  ['a', 'b'],
  ['b', 'a'],
])('of two with one name, office and day the same one counts: %s, then %s', async (...keys) => {
  const resigned: Record<string, string> = { a: '2021-01-01', b: '2022-02-02' };
  await load('2026-01-01', company);
  for (const key of keys) {
    const record = { ...office, resignedOn: resigned[key] };
    await load('2026-01-02', { entity: 'officer', key, record });
  }
  const rows = await database.sql`select resigned_on::text from officers`;
  expect(rows).toEqual([{ resignedOn: '2021-01-01' }]);
});
