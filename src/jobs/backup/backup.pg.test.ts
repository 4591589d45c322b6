/** A backup made while lists run is restored whole into an empty service, or not at all. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd, crowdRange } from '../../../tests/support/small-graph.ts';
import { assertSchemaCurrent, migrate, readOwnSchema } from '../../core/db/migrate.ts';
import { unmarkUnfinishedRestore } from '../../core/db/unfinished-restore.ts';
import { must } from '../../core/lib/assert.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { audit } from '../audit/audit.ts';
import { auditParts } from '../audit/audit-parts.ts';
import { isOwnStore, markStore } from '../batch/own-store.ts';
import { type Manifest, readEntries, sealed as sealedTar } from './backup-file.ts';
import { assertRestorable, checkBackup, restoreBackup } from './restore-backup.ts';
import { writeBackup } from './write-backup.ts';

const PASSPHRASE = 'a dozen words or so';

let source: Pipeline;
let caller: Caller;
let finished: string;
let open: string;
let plain: Buffer;
let sealed: Buffer;

/** The last lines of progress of the backups. */
const ended: (string | undefined)[] = [];

async function take(passphrase: string | null): Promise<Buffer> {
  const told: string[] = [];
  const { file, end } = await writeBackup(source.context, passphrase, (line) => told.push(line));
  const bytes = await buffer(file);
  expect(await end).toMatchObject({ missing: 0 });
  ended.push(told.at(-1));
  return bytes;
}

beforeAll(async () => {
  source = await openPipeline({ BATCH_ROWS_MAX: '1000', CHUNK_ROWS: '5' });
  // Long records: a table is larger than the buffers on its way.
  const summary = 'long '.repeat(4_000);
  const persons = crowd(40).map((person) => ({ ...person, summary }));
  await importGraph(source.sql, { persons });
  await markStore(source.context);
  caller = await source.unmeteredAccount(100);
  finished = await source.upload(caller, crowdRange(1, 20), { operation: 'people.enrich' });
  await source.runUntilIdle();
  open = await source.upload(caller, crowdRange(10, 40), { operation: 'people.enrich' });
  // Split, and one of its chunks done.
  await source.queues.runNext(source.context, 'split-batch');
  await source.queues.runNext(source.context, 'run-chunk');
  plain = await take(null);
  sealed = await take(PASSPHRASE);
});
afterAll(() => source.close());

/** The plain backup with other entries: `change` returns those in the place of one. */
async function rewritten(change: (name: string, own: Buffer) => [string, Buffer][]) {
  const tar = pack();
  const file = await sealedTar(tar, null);
  const filling = (async () => {
    for await (const { name, bytes } of readEntries(() => Readable.from([plain]), null)) {
      for (const [other, own] of change(name, await buffer(bytes))) tar.entry({ name: other }, own);
    }
    tar.finalize();
  })();
  const [whole] = await Promise.all([buffer(file), filling]);
  return whole;
}

/** The plain backup with another byte, one that changes the content: not every byte of a compressed file does. */
function damaged(place = Math.floor(plain.length * 0.6)): Buffer {
  const bytes = Buffer.from(plain);
  bytes[place] = (bytes[place] ?? 0) ^ 0x55;
  try {
    gunzipSync(bytes);
  } catch {
    return bytes;
  }
  return damaged(place + 1);
}

/** The plain backup with another manifest. */
function withManifest(change: (manifest: Manifest) => object): Promise<Buffer> {
  const changed = (own: Buffer) => Buffer.from(JSON.stringify(change(JSON.parse(own.toString()))));
  return rewritten((name, own) => [[name, name === 'manifest.json' ? changed(own) : own]]);
}

/** The plain backup with one more entry, which its end counts. */
function withEntry(extra: string): Promise<Buffer> {
  return rewritten((name, own) => {
    if (name !== 'end.json') return [[name, own]];
    const end = JSON.parse(own.toString());
    end[extra.startsWith('objects') ? 'objects' : 'pieces']++;
    return [
      [extra, Buffer.from('x')],
      [name, Buffer.from(JSON.stringify(end))],
    ];
  });
}

let target: Pipeline;
const openTarget = async () => {
  target = await openPipeline({ BATCH_ROWS_MAX: '1000', CHUNK_ROWS: '5' });
};
const closeTarget = () => target.close();

const restore = async (bytes: Buffer, passphrase: string | null = null) => {
  const told: string[] = [];
  const tell = (line: string) => told.push(line);
  const checked = await checkBackup(() => Readable.from([bytes]), passphrase, tell);
  const restored = await restoreBackup(target.context, checked, tell);
  return { restored, told };
};

describe('a restored service', () => {
  beforeEach(openTarget);
  afterEach(closeTarget);

  test.each(['plain', 'encrypted'])('has the lists, results and credits (%s)', async (form) => {
    const before = await source.results(caller, finished);
    const wallet = await source.wallet(caller);
    if (form === 'plain') await restore(plain);
    else await restore(sealed, PASSPHRASE);
    expect(await target.wallet(caller)).toEqual(wallet);
    expect(await target.results(caller, finished)).toEqual(before);
    expect(await audit(target.sql)).toMatchObject({ ok: true });
    const { checks } = await auditParts(target.context);
    expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
  });

  test('ends the lists that were open, each row once, at its price', async () => {
    await restore(plain);
    // The queue of the other service has its jobs.
    await target.passAnHour();
    await target.sweep();
    await target.runUntilIdle();
    expect(await target.batch(caller, open)).toMatchObject({
      state: 'completed',
      rows: { total: 30, matched: 30 },
      credits: { charged: 30 },
    });
    expect(await target.wallet(caller)).toMatchObject({ balance: 100 - 19 - 30, reserved: 0 });
    expect(await audit(target.sql)).toMatchObject({ ok: true });
  });

  test('was told how many files it has, as its backup was', async () => {
    const { restored, told } = await restore(plain);
    const all = `files: ${restored.objects} of ${restored.objects}`;
    expect(restored.objects).toBeGreaterThan(2);
    expect([...ended, told.at(-1)]).toEqual([all, all, all]);
    // The whole file is read before anything is written: for a large one that takes long.
    expect(told).toContain('check table graph.persons');
    expect(told.indexOf('check files: 1')).toBeLessThan(told.indexOf('table graph.persons'));
  });

  test('takes an opt-out out of an export that ended at its limit, in whose last parts is nobody', async () => {
    const payer = await source.unmeteredAccount(100);
    const capped = { filter: 'id=1001-1040', fields: ['id'], max_credits: 3 };
    const id = await source.makeExport(payer, capped);
    await source.runUntilIdle();
    const { file } = await writeBackup(source.context, null);
    await restore(await buffer(file));
    expect(await suppress(target.sql, 'p1@list.example')).toEqual({ persons: 1 });
    expect((await target.people(payer, id)).text).toBe('person.id\n1002\n1003\n');
  });

  test('finds people, and gives out no number again', async () => {
    await restore(plain);
    const [last] = await source.sql<{ id: number }[]>`select max(id) as id from ledger_entries`;
    expect((await target.call(caller, '/v1/people/enrich?email=p1%40list.example')).status).toBe(
      200,
    );
    const [next] = await target.sql<{ id: number }[]>`select max(id) as id from ledger_entries`;
    expect((next?.id ?? 0) - (last?.id ?? 0)).toBeGreaterThan(1_000_000);
  });
});

// The target stays empty, until the last of these tests.
describe('nothing is restored', () => {
  beforeAll(openTarget);
  afterAll(closeTarget);

  const isEmpty = async () => {
    const [row] = await target.sql<{ found: number }[]>`
      select (select count(*) from batches)::int + (select count(*) from graph.persons)::int as found`;
    expect(row?.found).toBe(0);
    for await (const key of target.context.store.list()) expect(key).toBe('nothing');
  };

  test.each([
    ['cut off', () => plain.subarray(0, plain.length - 2000)],
    ['cut off in the middle', () => plain.subarray(0, plain.length / 2)],
    ['empty', () => Buffer.alloc(0)],
    ['another file', () => Buffer.from(crowdRange(1, 20))],
    ['damaged', () => damaged()],
  ])('from a file that is %s', async (_, bytes) => {
    await expect(restore(bytes())).rejects.toMatchObject({ code: 'backup_unreadable' });
    await isEmpty();
  });

  test('from an encrypted file without its passphrase, with another one, or damaged', async () => {
    await expect(restore(sealed)).rejects.toMatchObject({ code: 'backup_encrypted' });
    const another = restore(sealed, 'another dozen words');
    await expect(another).rejects.toMatchObject({ code: 'backup_encrypted' });
    const bytes = Buffer.from(sealed);
    const place = Math.floor(bytes.length * 0.6);
    bytes[place] = (bytes[place] ?? 0) ^ 1;
    await expect(restore(bytes, PASSPHRASE)).rejects.toMatchObject({ code: 'backup_unreadable' });
    expect(sealed.includes('p1@list.example')).toBe(false);
    await isEmpty();
  });

  const terminal = 'tables/\u001b[2J/1';
  test.each(['objects/../outside', 'objects/installation', terminal, 'another'])(
    'from a file with the entry %j',
    async (name) => {
      await expect(restore(await withEntry(name))).rejects.toMatchObject({
        code: 'backup_unreadable',
        message: expect.stringContaining('an entry'),
      });
      await isEmpty();
    },
  );

  // The names of tables become statements.
  test.each([
    ['public.accounts; drop table public.accounts', ['id']],
    ['pg_catalog.pg_class', ['oid']],
    ['public.accounts', ['id" ) from stdin; drop table accounts --']],
  ])('from a manifest that was changed to name %j', async (name, columns) => {
    const changed = (manifest: Manifest) => ({
      ...manifest,
      tables: [...manifest.tables, { name, columns }],
    });
    await expect(restore(await withManifest(changed))).rejects.toMatchObject({
      code: 'backup_unreadable',
      message: expect.stringContaining('a table'),
    });
    const sequences = [{ name: 'pg_catalog.anything', last: 1 }];
    const other = await withManifest((manifest) => ({ ...manifest, sequences }));
    await expect(restore(other)).rejects.toMatchObject({
      code: 'backup_unreadable',
      message: expect.stringContaining('a sequence'),
    });
    await isEmpty();
  });

  test('from a backup of another version', async () => {
    await target.sql`update migrations set name = name || '.old'`;
    const refused = restore(plain);
    await expect(refused).rejects.toMatchObject({ code: 'backup_of_another_version' });
    await target.sql`update migrations set name = replace(name, '.old', '')`;
    await isEmpty();
  });

  test('from a backup of another version, before a database is made for it', async () => {
    const [, ...older] = JSON.parse(JSON.stringify(await readOwnSchema()));
    for (const schema of [older, [...older, { name: 'app/999_new', sha256: '' }]]) {
      const other = await withManifest((manifest) => ({ ...manifest, schema }));
      const checked = checkBackup(() => Readable.from([other]), null);
      await expect(checked).rejects.toMatchObject({ code: 'backup_of_another_version' });
    }
  });

  test('into a database that has accounts or a graph, which is seen without the backup', async () => {
    // Of the restores above.
    await unmarkUnfinishedRestore(target.sql);
    await assertRestorable(target.sql);
    await target.unmeteredAccount(5);
    for (const refused of [() => assertRestorable(target.sql), () => restore(plain)]) {
      await expect(refused()).rejects.toMatchObject({
        code: 'not_empty',
        message: expect.stringContaining('--data-dir'),
      });
    }
    const [accounts] = await target.sql<{ count: number }[]>`select count(*)::int from accounts`;
    expect(accounts?.count).toBe(1);
  });
});

test('a store with files is not restored into, and stays as it is', async () => {
  await openTarget();
  const { store } = target.context;
  const key = 'batches/0190a0a0-0000-7000-8000-000000000001/upload';
  await store.put(key, [Buffer.from('live')]);
  await expect(restore(plain)).rejects.toMatchObject({
    code: 'not_empty',
    message: expect.stringMatching(/^The folder .*objects is not empty.*S3_PREFIX/),
  });
  expect(await target.objects()).toEqual([key]);
  const [accounts] = await target.sql<{ count: number }[]>`select count(*)::int from accounts`;
  expect(accounts?.count).toBe(0);
  await closeTarget();
});

test('half a restore is refused by every start, and repeated as a whole', async () => {
  await openTarget();
  const { context, faults, sql } = target;
  faults.put = async (key) => {
    if (key.startsWith('batches/')) throw new Error('killed');
  };
  await expect(restore(plain)).rejects.toThrow('killed');
  delete faults.put;
  const unfinished = { code: 'restore_unfinished', message: expect.stringContaining('repeat it') };
  await expect(migrate(sql)).rejects.toMatchObject(unfinished);
  await expect(assertSchemaCurrent(sql)).rejects.toMatchObject(unfinished);
  await assertRestorable(sql);
  await restore(plain);
  await migrate(sql);
  await assertSchemaCurrent(sql);
  expect(await isOwnStore(context)).toBe(true);
  expect(await audit(sql)).toMatchObject({ ok: true });
  await closeTarget();
});

test('a database without tables can be restored into, and that of something else cannot', async () => {
  const { sql, drop } = await createTestDatabase();
  await sql`drop schema public, graph cascade`;
  await sql`create schema public`;
  await assertRestorable(sql);
  await sql`create table public.orders (id int)`;
  await expect(assertRestorable(sql)).rejects.toMatchObject({ code: 'foreign_database' });
  await drop();
});

test('the moment of a backup is that of its snapshot, by the clock of the database', async () => {
  const before = new Date().toISOString();
  // The clock of this machine is wrong.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  const { file, end } = await writeBackup(source.context, null);
  const bytes = await buffer(file);
  vi.useRealTimers();
  const { created_at: moment } = await end;
  expect(moment >= before && moment <= new Date().toISOString()).toBe(true);
  const { manifest } = await checkBackup(() => Readable.from([bytes]), null);
  expect(manifest.created_at).toBe(moment);
});

test('a backup says what a restore of it takes: a server, three times the database, and the files', async () => {
  const { file, end } = await writeBackup(source.context, null);
  await buffer(file);
  const [row] = await source.sql<{ bytes: number }[]>`
    select pg_database_size(current_database()) as bytes`;
  let bytes = 64 * 1024 ** 2 + 3 * must(row, 'size').bytes;
  for (const key of await source.objects()) bytes += (await source.context.store.head(key)) ?? 0;
  const { restore_bytes: needed } = await end;
  // The server may have written statistics since.
  expect(Math.abs(needed - bytes)).toBeLessThan(1024 * 1024);
});

test('a failing file fails the backup', async () => {
  const { file, end } = await writeBackup(source.context, null);
  file.destroy(new Error('disk full'));
  await expect(buffer(file)).rejects.toThrow('disk full');
  await expect(end).rejects.toThrow();
});

test('an object that is deleted meanwhile is counted, and one that the database still names fails the backup', async () => {
  const { context, sql } = source;
  const id = await source.upload(caller, crowdRange(1, 5), {
    operation: 'people.enrich',
    hold: 'true',
  });
  const upload = `batches/${id}/upload`;
  // At the end of the snapshot, as `DELETE /v1/batches/:id` does.
  const head = async (key: string) => {
    if (key === upload) {
      await context.store.delete(key);
      await sql`update batches set files_deleted_at = now() where id = ${id}`;
    }
    return context.store.head(key);
  };
  const backup = await writeBackup({ ...context, store: { ...context.store, head } }, null);
  await buffer(backup.file);
  expect(await backup.end).toMatchObject({ missing: 1 });
  await sql`update batches set files_deleted_at = null where id = ${id}`;
  const failing = await writeBackup(context, null);
  await expect(buffer(failing.file)).rejects.toMatchObject({
    code: 'objects_missing',
    message: expect.stringContaining(`lacks 1 file that the database names, such as ${upload}`),
  });
  await sql`update batches set files_deleted_at = now() where id = ${id}`;
});

test('a disk that is full in the middle of a table ends the backup', async () => {
  // More than a piece, so that rows are still on their way.
  await source.sql`update graph.persons set summary = repeat('long ', 100000)`;
  const backup = await writeBackup(source.context, null, (line) => {
    if (line === 'table graph.persons') backup.file.destroy(new Error('disk full'));
  });
  await expect(buffer(backup.file)).rejects.toThrow('disk full');
  // Not the error of a server that waited too long for its connection.
  await expect(backup.end).rejects.toThrow('destroyed');
});
