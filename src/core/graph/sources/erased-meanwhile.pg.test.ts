/** A person who is erased between the steps of an import, or of its undoing, stays so. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { filesOf, noRejects, rowsOf, sourceInput } from '../../../../tests/support/source-input.ts';
import { untilBlocked } from '../../../../tests/support/until-blocked.ts';
import { type Database, inTransaction } from '../../db/client.ts';
import { must } from '../../lib/assert.ts';
import { deletePersons } from '../delete-persons.ts';
import { forgetSourceRecords } from '../erased-records.sql.ts';
import { compareRows, insertImport, writeChanges } from './identify.sql.ts';
import { stageRows } from './import-rows.sql.ts';
import { importSource } from './import-source.ts';
import { heldKey, type SourceRecord } from './source-record.ts';
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
    await untilBlocked(sql, 1);
  });
  await undoing;
  const [row] = await sql`select record, as_of::text from source_records`;
  expect(row).toEqual({ record: null, asOf: 'infinity' });
});

it('before the comparison with the file', async () => {
  const company = { entity: 'company', key: 'acme', record: { name: 'Acme Ltd' } } as const;
  const office = { entity: 'officer', key: 'o', company: ['key:partners/acme'] } as const;
  const values = { name: 'LARK, Ada', role: 'director', birthYear: 1970 };
  const record = { name: 'Ada', surname: 'Lark', birthYear: 1970 };
  const loadOffice = async (asOf: string) => {
    const records = [
      { ...office, record: values, person: 'a' },
      { entity: 'person', key: 'a', record },
    ] as const;
    const rows = rowsOf({ line: 2, records: [company] }, { line: 3, records });
    await importSource(sql, sourceInput({ asOf, rows }), { rejects: noRejects() });
  };
  await loadOffice('2026-01-02');
  let importing: Promise<void> | undefined;
  await inTransaction(sql, async (tx) => {
    // The import reads it between its stage and the comparison.
    await tx`lock table company_identifiers`;
    importing = loadOffice('2026-01-03');
    await untilBlocked(sql, 1);
    await erase();
  });
  await importing;
  await loadOffice('2026-01-04');
  const [left] = await sql`
    select (select count(*)::int from persons) as people,
      (select count(*)::int from source_records where record ilike '%lark%') as records`;
  expect(left).toEqual({ people: 0, records: 0 });
});

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

it('between the comparison with the people who were erased and that with the records', async () => {
  const desk = 'desk@acme.example';
  const contact = (name: string, surname: string, email: string) => {
    const key = heldKey(email, `${name} ${surname}`.toLowerCase());
    return { entity: 'person', key, record: { name, surname, email } } as const;
  };
  const importing = (asOf: string, rows: SourceRecord[], beforeRows = async () => {}) => {
    const input = sourceInput({
      source: 'contacts',
      asOf,
      rows: async function* () {
        await beforeRows();
        yield* filesOf(rows)();
      },
    });
    return importSource(sql, input, { rejects: noRejects() });
  };
  await erase();
  await importing('2026-01-01', [contact('Eve', 'Finch', desk)]);
  // Another one has the address after her.
  await erase();
  const other = contact('Bob', 'Wren', desk);
  const ada = contact('Ada', 'Lark', 'hall@acme.example');
  await importing('2026-01-02', [ada]);
  const holder = await sql.reserve();
  const imported = importing('2026-01-03', [other, ada], async () => {
    // The statistics of the stage, which are made between the two, wait for it.
    await holder`begin`;
    await holder`lock table import_rows in share update exclusive mode`;
  });
  await untilBlocked(sql, 1);
  await erase();
  await holder`commit`;
  holder.release();
  await imported;
  expect(await sql`select name from persons`).toEqual([{ name: 'Bob' }]);
  const said = sql`select record::json ->> 'name' as name from source_records where record is not null`;
  expect(await said).toEqual([{ name: 'Bob' }]);
});
