/** Records are read before the transaction that builds them, which reads them again when they have changed since. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { Signal } from '../../../../tests/support/signal.ts';
import { filesOf, noRejects, sourceInput } from '../../../../tests/support/source-input.ts';
import { connect, type Database, inTransaction, type Sql } from '../../db/client.ts';
import { lockGraphForWriting } from '../graph.sql.ts';
import { importSource } from './import-source.ts';
import type { SourceRecord } from './source-record.ts';

let database: TestDatabase;
/** Another writer of the graph, and an observer. */
let other: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  other = connect({ url: database.url, connections: 2 });
});
afterAll(async () => {
  await other.end();
  await database.drop();
});

const company = (key: string, name: string): SourceRecord => ({
  entity: 'company',
  key,
  record: { name, registryNumber: key, registryCountry: 'GB' },
});

async function load(
  records: readonly SourceRecord[],
  onWritten: () => Promise<void> = async () => {},
): Promise<void> {
  const input = sourceInput({ rows: filesOf(records) });
  await importSource(database.sql, input, { rejects: noRejects(), onWritten });
}

/** Imports; when the first part is read and waits for its turn to write, another writer changes records. */
async function loadWhile(
  records: readonly SourceRecord[],
  change: (tx: Sql) => Promise<unknown>,
): Promise<void> {
  const locked = new Signal();
  let changing: Promise<unknown> | undefined;
  await load(records, async () => {
    changing = inTransaction(other, async (tx) => {
      await lockGraphForWriting(tx);
      locked.raise();
      while (!(await isWriterWaiting()));
      await change(tx);
    });
    await locked.raised;
  });
  await changing;
}

async function isWriterWaiting(): Promise<boolean> {
  const [row] = await other<{ waits: boolean }[]>`
    select exists (select from pg_locks l join pg_database d on d.oid = l.database
      where d.datname = current_database() and locktype = 'advisory' and not granted) as waits`;
  return row?.waits ?? false;
}

async function names(): Promise<string[]> {
  const rows = await other<{ name: string }[]>`select name from companies order by id`;
  return rows.map(({ name }) => name);
}

it('records are read again when another writer has changed or ended one, or queued one', async () => {
  await load([company('00000001', 'First Ltd')]);
  const records = [company('00000002', 'Second Ltd'), company('00000003', 'Third Ltd')];
  await loadWhile(records, async (tx) => {
    await tx`update source_records set record = replace(record, 'Second', 'Changed') where key = '00000002'`;
    await tx`update source_records set record = null, hash = '' where key = '00000003'`;
  });
  expect(await names()).toEqual(['First Ltd', 'Changed Ltd']);

  const [first] = await other<
    { id: number }[]
  >`select id from source_records where key = '00000001'`;
  await loadWhile([company('00000004', 'Fourth Ltd')], async (tx) => {
    await tx`update source_records set record = replace(record, 'First', 'Renamed') where key = '00000001'`;
    await tx`insert into records_to_build values (1, ${first?.id ?? 0})`;
  });
  expect(await names()).toEqual(['Renamed Ltd', 'Changed Ltd', 'Fourth Ltd']);
  expect(await other`select from records_to_build`).toHaveLength(0);
});
