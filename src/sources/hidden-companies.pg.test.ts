/** Companies that their register hides, such as sole traders: neither an undo nor an older file shows them again. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { noRejects, rowsOf, sourceInput } from '../../tests/support/source-input.ts';
import { importSource } from '../core/graph/sources/import-source.ts';
import type { SourceRow } from '../core/graph/sources/source-record.ts';
import { showImport, undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

/** Imports one row as a file of changes; returns the import. */
async function load(asOf: string, row: SourceRow): Promise<number> {
  const input = sourceInput({ source: 'sirene', asOf, rows: rowsOf(row) });
  const report = await importSource(database.sql, input, { rejects: noRejects() });
  return must(report.import_id, 'import');
}

const number = { registryNumber: '732829320', registryCountry: 'FR' };
const trader = { entity: 'company' as const, key: 'ada', record: { name: 'ADA LARK', ...number } };
const shown: SourceRow = { line: 2, records: [trader] };
const hidden: SourceRow = { line: 2, optedOut: [], keys: [['company', 'ada']] };
const ended: SourceRow = { line: 2, ended: ['company', 'ada'] };
const names = () => database.sql`select name from companies`;

it('are counted as gone in the plan of an undo of a later file that shows them', async () => {
  await load('2026-01-01', shown);
  const hid = await load('2026-02-01', hidden);
  const again = await load('2026-03-01', shown);
  const office = {
    entity: 'officer' as const,
    key: 'office',
    record: { name: 'LARK, Ada' },
    company: ['registry:FR-732829320'],
  };
  const input = sourceInput({ source: 'offices', rows: rowsOf({ line: 2, records: [office] }) });
  await importSource(database.sql, input, { rejects: noRejects() });
  const { undo } = await showImport(database.sql, hid);
  expect(undo).toEqual({ later: [again], restored: 0, ended: 1, without_company: 1 });
  await undoImport(database.sql, hid, { withLater: true });
  expect(await names()).toEqual([]);
});

it('that had ended before stay so when the import that ended them is undone', async () => {
  await load('2026-01-01', shown);
  const end = await load('2026-02-01', ended);
  await load('2026-03-01', hidden);
  await undoImport(database.sql, end, { withLater: true });
  expect(await names()).toEqual([]);
});

it('that had ended before are not shown by a file that is older than the one that hides them', async () => {
  await load('2026-01-01', shown);
  await load('2026-02-01', ended);
  await load('2026-03-01', hidden);
  await load('2026-02-15', shown);
  expect(await names()).toEqual([]);
  await load('2026-03-02', shown);
  expect(await names()).toEqual([{ name: 'ADA LARK' }]);
});
