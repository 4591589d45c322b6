/** The stage of an import lives as long as the session with its lock: what loses the one stops the import. */
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/database.ts';
import { Signal } from '../../../../tests/support/signal.ts';
import { noRejects, sourceInput } from '../../../../tests/support/source-input.ts';
import { importRecords } from './import-records.ts';
import { importSource, type SourceImportReport } from './import-source.ts';
import type { SourceRow } from './source-record.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

/** As many as are staged at once; they are no records, and so are not built. */
const REJECTED = 10_000;

/** Imports a record, rows that are rejected, and another record; `between` runs when the first ones are staged. */
function load(source: string, between: () => Promise<unknown>): Promise<SourceImportReport> {
  const input = sourceInput({
    source,
    async *rows() {
      const rejected = Array.from({ length: REJECTED }, (_, index) => {
        return { line: index + 2, reason: 'invalid', source: {}, seen: [`${source}-${index + 2}`] };
      });
      yield [rowOf(source, 1), ...rejected];
      await between();
      yield [rowOf(source, REJECTED + 2)];
    },
  });
  return importSource(database.sql, input, { rejects: noRejects() });
}

function rowOf(source: string, line: number): SourceRow {
  const record = { name: 'Ada', surname: `Of ${source} ${line}` };
  return { line, records: [{ entity: 'person', key: `${source}-${line}`, record }] };
}

/** Ends the session that has the lock of imports, and waits until the lock is free. */
async function endHolder(): Promise<void> {
  const held = () => database.sql`
    select pid from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and locktype = 'advisory' and objsubid = 1 and granted`;
  await database.sql`select pg_terminate_backend(pid) from (${held()}) holder`;
  while ((await held()).length > 0);
}

const written = () => database.sql`
  select source, count(*)::int as records from source_records group by source`;

it('an import during which the server crashed writes nothing, and a repeated one everything', async () => {
  const crashed = load('partners', async () => {
    await endHolder();
    // A crash empties the table, which is unlogged.
    await database.sql`truncate import_rows`;
  });
  await expect(crashed).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
  expect(await written()).toEqual([]);
  expect(await load('partners', async () => {})).toMatchObject({ new: 2, same: 0 });
  expect(await written()).toEqual([{ source: 'partners', records: 2 }]);
});

it('an import that lost its lock neither writes nor empties what the next one has staged', async () => {
  const staged = new Signal();
  const lost = new Signal();
  let next: Promise<SourceImportReport> | undefined;
  const first = load('partners', async () => {
    await endHolder();
    next = load('others', async () => {
      staged.raise();
      await lost.raised;
    });
    await staged.raised;
  });
  await expect(first).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
  lost.raise();
  expect(await next).toMatchObject({ new: 2, same: 0 });
  expect(await written()).toEqual([{ source: 'others', records: 2 }]);
});

it('an import of one’s own file that lost its lock writes nothing more', async () => {
  const lines = async function* () {
    yield `${JSON.stringify({ id: 7, name: 'Ada', surname: 'Lark' })}\n`;
    await endHolder();
  };
  const input = Readable.from(lines(), { objectMode: false });
  const own = { entity: 'persons', input, format: 'jsonl', rejects: noRejects() } as const;
  await expect(importRecords(database.sql, own)).rejects.toMatchObject({
    code: 'CONNECTION_CLOSED',
  });
  expect(await database.sql`select id from persons`).toEqual([]);
});
