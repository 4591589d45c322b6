/**
 * Restores a backup into an empty service. The file is read to its end before a database is needed; rows become visible
 * in one transaction, after the objects that they name.
 */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Database, inTransaction, type Sql } from '../../core/db/client.ts';
import { listPending, readOwnSchema } from '../../core/db/migrate.ts';
import {
  markUnfinishedRestore,
  readUnfinishedRestore,
  unmarkUnfinishedRestore,
} from '../../core/db/unfinished-restore.ts';
import { must } from '../../core/lib/assert.ts';
import { AppError, conflict } from '../../core/lib/errors.ts';
import { isKey } from '../../core/storage/object-key.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { describeStorage, type StorageConfig } from '../../core/storage-config.ts';
import { assertNewStore, INSTALLATION_KEY, markStore } from '../batch/own-store.ts';
import {
  type BackupTable,
  countHeld,
  emptyTables,
  hasTables,
  listSequences,
  listTables,
  readSchema,
  setSequence,
  setTriggers,
  tryRestoreLock,
  waitWithoutEnd,
  writeTable,
} from './backup.sql.ts';
import {
  type End,
  type Entry,
  endSchema,
  isReported,
  type Manifest,
  manifestSchema,
  type OnProgress,
  readEntries,
  SMALL_AT_ONCE,
  SMALL_BYTES_MAX,
  unreadable,
} from './backup-file.ts';
import { type LeftPast, leaveThePast } from './leave-the-past.ts';

export interface Restored extends End, Pick<LeftPast, 'deliveriesEnded' | 'schedulesMoved'> {
  createdAt: string;
}

/** A manifest has some 20 kB; a zip bomb has no end. */
const JSON_BYTES_MAX = 16 * 1024 * 1024;

interface RestoreContext {
  sql: Database;
  store: ObjectStore;
  config: { storage: StorageConfig };
}

/** A backup that was read to its end and found whole. */
export interface CheckedBackup {
  manifest: Manifest;
  end: End;
  read(): AsyncIterable<Entry>;
}

/**
 * Reads the backup that `open` returns a new stream of at each call. Throws `AppError` 422 `backup_unreadable`,
 * `backup_encrypted` or `backup_of_another_version`, and the system's error of a file that is absent or cannot be read.
 */
export async function checkBackup(
  open: () => Readable,
  passphrase: string | null,
  onProgress: OnProgress = () => {},
): Promise<CheckedBackup> {
  const read = () => readEntries(open, passphrase);
  try {
    return { ...(await check(read(), onProgress)), read };
  } catch (error) {
    const isOfFile = typeof (error as NodeJS.ErrnoException).syscall === 'string';
    throw isOfFile || error instanceof AppError ? error : unreadable(error);
  }
}

/**
 * Checks a database before the backup is read, and changes nothing; it may have no schema yet, and what a restore began and
 * did not finish. Throws `AppError` 409
 * `not_empty` as `restoreBackup`, and as `migrate` for a database of something else or of a newer version.
 */
export async function assertRestorable(sql: Sql): Promise<void> {
  await listPending(sql);
  if ((await readUnfinishedRestore(sql)) === null && (await hasTables(sql))) await refuseHeld(sql);
}

/** Marks a database that a restore may fill, so that nothing else starts on it. Throws as `assertRestorable`. */
export async function beginRestore(sql: Database): Promise<string> {
  return inTransaction(sql, async (tx) => {
    await assertRestorable(tx);
    if ((await readUnfinishedRestore(tx)) === null) await markUnfinishedRestore(tx);
    return must(await readUnfinishedRestore(tx), 'the mark of the restore');
  });
}

/**
 * Restores a backup. Throws `AppError` 422 `backup_of_another_version` or `backup_unreadable`, and 409 `not_empty` when
 * the database has accounts or a graph, or the store has files: they would be mixed with the backup.
 */
export async function restoreBackup(
  { sql, store, config }: RestoreContext,
  { manifest, end, read }: CheckedBackup,
  onProgress: OnProgress = () => {},
): Promise<Restored> {
  await assertNewStore({ sql, store }, describeStorage(config.storage));
  refuseAnotherSchema(await readSchema(sql), manifest);
  const restore = await beginRestore(sql);
  const { deliveriesEnded, schedulesMoved } = await inTransaction(sql, async (tx) => {
    await lockRestore(tx, restore);
    await waitWithoutEnd(tx);
    await refuseOtherTables(tx, manifest);
    await markStore({ sql: tx, store }, restore);
    for (const table of manifest.tables) await setTriggers(tx, table, false);
    await emptyTables(tx, manifest.tables);
    await load(tx, store, read(), { manifest, end, onProgress });
    for (const table of manifest.tables) await setTriggers(tx, table, true);
    for (const { name, last } of manifest.sequences) await setSequence(tx, name, last);
    return leaveThePast(tx);
  });
  await markStore({ sql, store });
  await unmarkUnfinishedRestore(sql);
  return { ...end, createdAt: manifest.created_at, deliveriesEnded, schedulesMoved };
}

/** Reads the whole file. A damaged byte is found by the checksum of gzip, or the authentication of age. */
async function check(
  entries: AsyncIterable<Entry>,
  onProgress: OnProgress,
): Promise<{ manifest: Manifest; end: End }> {
  let manifest: Manifest | null = null;
  let end: End | null = null;
  let pieces = 0;
  let objects = 0;
  for await (const { name, bytes } of entries) {
    if (name === 'manifest.json') {
      manifest = manifestSchema.parse(await readJson(bytes));
      // The first entry: seen before the rest is read, and before a database is made.
      refuseAnotherSchema(await readOwnSchema(), manifest);
    } else if (name === 'end.json') end = endSchema.parse(await readJson(bytes));
    else {
      refuseOtherNames(name, manifest);
      const [kind, table, piece] = name.split('/');
      if (kind === 'tables') pieces++;
      if (kind === 'tables' && piece === '1') onProgress(`check table ${table}`);
      if (kind === 'objects') objects++;
      if (kind === 'objects' && isReported(objects, 1)) onProgress(`check files: ${objects}`);
      for await (const _ of bytes);
    }
  }
  if (manifest === null) throw unreadable('it has no manifest');
  if (end === null || end.pieces !== pieces || end.objects !== objects) {
    throw unreadable('it ends too early');
  }
  return { manifest, end };
}

/** Names are printed, and become keys of the store: only those that a backup has. */
function refuseOtherNames(name: string, manifest: Manifest | null): void {
  const [kind, ...rest] = name.split('/');
  const isTable = kind === 'tables' && manifest?.tables.some((table) => table.name === rest[0]);
  const key = rest.join('/');
  const isFile = kind === 'objects' && isKey(key) && key !== INSTALLATION_KEY;
  if (!isTable && !isFile) throw unreadable(`it has an entry ${JSON.stringify(name)}`);
}

async function readJson(bytes: Entry['bytes']): Promise<unknown> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of bytes) {
    length += piece.length;
    if (length > JSON_BYTES_MAX) throw unreadable('its manifest is too long');
    pieces.push(piece);
  }
  return JSON.parse(Buffer.concat(pieces).toString());
}

function refuseAnotherSchema(own: Manifest['schema'], { schema }: Manifest): void {
  const named = (migrations: Manifest['schema']) =>
    migrations.map(({ name, sha256 }) => `${name} ${sha256}`).sort();
  if (JSON.stringify(named(own)) === JSON.stringify(named(schema))) return;
  const message =
    'The backup was made by another version of the service. Restore it with that version, then upgrade. Nothing was restored.';
  throw new AppError({ code: 'backup_of_another_version', status: 422, message });
}

/** The names become statements: only those that the database has itself, which has the schema of the backup. */
async function refuseOtherTables(sql: Sql, { tables, sequences }: Manifest): Promise<void> {
  const own = new Map((await listTables(sql)).map((table) => [table.name, table]));
  for (const { name, columns } of tables) {
    if (JSON.stringify(own.get(name)?.columns) !== JSON.stringify(columns)) {
      throw unreadable(`it has a table ${JSON.stringify(name)} that this version does not write`);
    }
  }
  const known = new Set(await listSequences(sql));
  const other = sequences.find(({ name }) => !known.has(name));
  if (other !== undefined) {
    throw unreadable(
      `it has a sequence ${JSON.stringify(other.name)} that this version does not have`,
    );
  }
}

/** Of two restores at the same time, one is refused: it would empty what the other has filled. */
async function lockRestore(tx: Sql, restore: string): Promise<void> {
  const isAlone = await tryRestoreLock(tx);
  if (isAlone && (await readUnfinishedRestore(tx)) === restore) return;
  throw conflict('not_empty', 'Another restore fills this database. Nothing was restored.');
}

async function refuseHeld(sql: Sql): Promise<void> {
  const { accounts, persons, companies } = await countHeld(sql);
  if (accounts + persons + companies === 0) return;
  const message = `The database is not empty: it has ${accounts} ${accounts === 1 ? 'account' : 'accounts'}${persons + companies > 0 ? ' and a graph' : ''}. Restore into a new data folder (--data-dir) or an empty database. Nothing was restored.`;
  throw conflict('not_empty', message);
}

async function load(
  tx: Sql,
  store: ObjectStore,
  entries: AsyncIterable<Entry>,
  { manifest, end, onProgress }: { manifest: Manifest; end: End; onProgress: OnProgress },
): Promise<void> {
  const tables = new Map(manifest.tables.map((table) => [table.name, table]));
  let open: { table: BackupTable; finish: () => Promise<void>; write: Write } | null = null;
  let objects = 0;
  let small: { key: string; bytes: Buffer }[] = [];
  const putSmall = async () => {
    await Promise.all(small.map(({ key, bytes }) => store.put(key, [bytes])));
    small = [];
  };
  for await (const { name, size, bytes } of entries) {
    const [kind, ...rest] = name.split('/');
    const table = kind === 'tables' ? must(tables.get(rest[0] ?? ''), `table of ${name}`) : null;
    // One COPY for a table: its rows may refer to each other.
    if (open !== null && open.table !== table) {
      await open.finish();
      open = null;
    }
    if (table !== null) {
      if (open === null) {
        onProgress(`table ${table.name}`);
        open = { table, ...(await openTable(tx, table)) };
      }
      for await (const piece of bytes) await open.write(piece);
    } else if (kind === 'objects') {
      const key = rest.join('/');
      if (size > SMALL_BYTES_MAX) await store.putStream(key, bytes);
      else small.push({ key, bytes: await buffer(bytes) });
      objects++;
      if (small.length === SMALL_AT_ONCE || objects === end.objects) await putSmall();
      if (isReported(objects, end.objects)) onProgress(`files: ${objects} of ${end.objects}`);
    } else for await (const _ of bytes);
  }
}

type Write = (piece: Buffer) => Promise<void>;

async function openTable(tx: Sql, table: BackupTable) {
  const rows = await writeTable(tx, table);
  const ended = new Promise<void>((resolve, reject) => {
    rows.once('finish', resolve);
    rows.once('error', reject);
  });
  ended.catch(() => {});
  return {
    async write(piece: Buffer) {
      if (!rows.write(piece)) await Promise.race([once(rows, 'drain'), ended]);
    },
    async finish() {
      rows.end();
      await ended;
    },
  };
}
