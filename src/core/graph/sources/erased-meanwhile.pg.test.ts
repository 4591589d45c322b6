/** A person who is erased between the steps of an import, or of its undoing, stays so. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { filesOf, noRejects, rowsOf, sourceInput } from '../../../../tests/support/source-input.ts';
import { type Database, inTransaction } from '../../db/client.ts';
import { must } from '../../lib/assert.ts';
import { deletePersons } from '../delete-persons.ts';
import { forgetSourceRecords } from '../erased-records.sql.ts';
import { compareRows, insertImport, writeChanges } from './identify.sql.ts';
import { stageRows } from './import-rows.sql.ts';
import { importSource } from './import-source.ts';
import { restoreRecords } from './undo.sql.ts';

let database: TestDatabase;
let sql: Database;
beforeEach(async () => {
  database = await createTestDatabase();
  sql = database.sql;
  await load('ada@home.example');
});
afterEach(() => database.drop());

async function load(email: string): Promise<void> {
  const record = { name: 'Ada', surname: 'Lark', email };
  const input = sourceInput({ rows: filesOf([{ entity: 'person', key: 'a', record }]) });
  await importSource(sql, input, { rejects: noRejects() });
}

async function erase(): Promise<void> {
  const [person] = await sql<{ id: number }[]>`select id from persons`;
  await deletePersons(sql, [must(person, 'a person').id]);
}

/** The records, versions and keys that sources have of the person. */
const said = () => sql`
  select record from source_records where record is not null
  union all select before_record from source_record_versions where before_record is not null
  union all select value from source_keys`;

it('while an undo waits for the erasure', async () => {
  let undoing: Promise<void> | undefined;
  await inTransaction(sql, async (tx) => {
    const [person] = await tx<{ id: number }[]>`select id from persons`;
    await forgetSourceRecords(tx, [must(person, 'a person').id]);
    undoing = inTransaction(sql, (other) => restoreRecords(other, 1));
    while (!(await isWaiting()));
  });
  await undoing;
  const [row] = await sql`select record, as_of::text from source_records`;
  expect(row).toEqual({ record: null, asOf: 'infinity' });
});

async function isWaiting(): Promise<boolean> {
  const [row] = await sql<{ waits: boolean }[]>`
    select exists (select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock') as waits`;
  return row?.waits ?? false;
}

it('between the comparison with the file and the write', async () => {
  const given = sourceInput({ asOf: '2026-01-02', rows: rowsOf() });
  await inTransaction(sql, async (tx) => {
    const record = JSON.stringify({ name: 'Ada', surname: 'Lark', email: 'ada@new.example' });
    const row = { line: 2, place: 0, isCounted: true, state: 0, entity: 2, key: 'a', refs: [] };
    await stageRows(tx, [{ ...row, hash: 'ab', record, keys: ['email:ada@new.example'] }]);
    const id = await insertImport(tx, { ...given, sha256: given.sha256() });
    await compareRows(tx, { ...given, id });
    await erase();
    await writeChanges(tx, { ...given, id });
  });
  expect(await said()).toEqual([]);
});
