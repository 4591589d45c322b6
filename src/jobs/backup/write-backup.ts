/**
 * Writes a backup while the service runs: all tables in one snapshot, then the objects that they name. An object is
 * written before the row that names it and never changes, so that what is copied later contains it.
 */
import type { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type Pack, pack } from 'tar-stream';
import { type Database, inTransaction, type Sql } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { AppError, conflict } from '../../core/lib/errors.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { isObjectMissing } from '../../core/storage/object-sum.ts';
import { describeStorage, type StorageConfig } from '../../core/storage-config.ts';
import { batchOfKey } from '../batch/batch-keys.ts';
import { requireOwnStore } from '../batch/own-store.ts';
import { isOfClaim } from '../result/part-keys.ts';
import {
  type BackupTable,
  countHeld,
  listObjectKeys,
  listTables,
  readDatabaseBytes,
  readSchema,
  readSequences,
  readSnapshot,
  readTable,
  waitWithoutEnd,
} from './backup.sql.ts';
import {
  type End,
  isReported,
  type Manifest,
  type OnProgress,
  SMALL_AT_ONCE,
  SMALL_BYTES_MAX,
  sealed,
} from './backup-file.ts';

/** A tar has the size of an entry before its bytes: pieces of this size are held in memory. */
const PIECE_BYTES = 8 * 1024 * 1024;

/** Measured: the tables of a restore and the log that it writes take this many times the size of the database. */
const RESTORE_FACTOR = 3;
/** An empty server of a new data folder. */
const SERVER_BYTES = 64 * 1024 * 1024;

/** How often, and how long apart, the database is asked whether it still names a missing object. */
const NAMED_LOOKS_MAX = 4;
const NAMED_PAUSE_MS = 500;

export interface Written extends End {
  /** All that was committed before this moment is in the backup (ISO 8601, by the clock of the database). */
  created_at: string;
  /** Bytes of disk that a restore takes: tables, indexes and log of the database, and the files. */
  restore_bytes: number;
}

interface BackupConfig {
  storage: StorageConfig;
  filesKeepDays: number;
}

/**
 * Returns a backup as a stream; errors surface on it. Objects that are deleted meanwhile, because they expired or an opt-out
 * replaced them, count as missing; their replacements are in the backup. Throws `AppError` 409 `another_store` as
 * `requireOwnStore`, and `not_found` for a database without an account. When objects are missing that the database still
 * names, the stream ends with `AppError` 409 `objects_missing`.
 */
export async function writeBackup(
  { sql, store, config }: { sql: Database; store: ObjectStore; config: BackupConfig },
  passphrase: string | null,
  onProgress: OnProgress = () => {},
): Promise<{ file: Readable; end: Promise<Written> }> {
  await requireOwnStore({ sql, store }, describeStorage(config.storage));
  if ((await countHeld(sql)).accounts === 0) throw nothingToBackUp();
  const tar = pack();
  const file = await sealed(tar, passphrase);
  const end = fill(tar, { sql, store, config }, onProgress).catch((error: unknown) => {
    tar.destroy(error as Error);
    throw error;
  });
  end.catch(() => {});
  return { file, end };
}

async function fill(
  tar: Pack,
  { sql, store, config }: { sql: Database; store: ObjectStore; config: BackupConfig },
  onProgress: OnProgress,
): Promise<Written> {
  const end: End = { pieces: 0, objects: 0, missing: 0 };
  const { keys, created_at, databaseBytes } = await inTransaction(sql, async (tx) => {
    const moment = (await readSnapshot(tx)).toISOString();
    await waitWithoutEnd(tx);
    const tables = await listTables(tx);
    const manifest: Manifest = {
      format: 1,
      created_at: moment,
      schema: await readSchema(tx),
      tables,
      sequences: await readSequences(tx),
    };
    await addEntry(tar, 'manifest.json', [Buffer.from(JSON.stringify(manifest))]);
    for (const table of tables) {
      onProgress(`table ${table.name}`);
      end.pieces += await addTable(tar, tx, table);
    }
    const databaseBytes = await readDatabaseBytes(tx);
    return { keys: await listObjectKeys(tx), created_at: moment, databaseBytes };
  });
  let bytes = SERVER_BYTES + RESTORE_FACTOR * databaseBytes;
  const add = async (object: FoundObject) => {
    const size = await addObject(tar, store, object);
    if (size !== null) end.objects++;
    bytes += size ?? 0;
    return size !== null;
  };
  const missing: string[] = [];
  for (let at = 0; at < keys.length; ) {
    const found = keys.slice(at, at + SMALL_AT_ONCE).map((key) => findObject(store, key));
    for (const object of await Promise.all(found)) {
      if (!(await add(object))) missing.push(object.key);
      if (isReported(++at, keys.length)) onProgress(`files: ${at} of ${keys.length}`);
    }
  }
  end.missing = missing.length;
  await addReplacements(sql, { keys, missing, keepDays: config.filesKeepDays }, async (key) =>
    add(await findObject(store, key)),
  );
  await addEntry(tar, 'end.json', [Buffer.from(JSON.stringify(end))]);
  tar.finalize();
  return { created_at, restore_bytes: bytes, ...end };
}

/** Adds an object to the backup; returns false for one that does not exist any more. */
type AddObject = (key: string) => Promise<boolean>;

/**
 * Adds the objects that replaced missing ones after an opt-out since the snapshot. The rows of the backup name the missing
 * ones; the doctor finds the new ones in their place. An object is deleted before its row forgets it, so one that is missing
 * although a row names it is looked for again, and fails the backup if it is still missing.
 */
async function addReplacements(
  sql: Sql,
  {
    keys,
    missing,
    keepDays,
  }: { keys: readonly string[]; missing: readonly string[]; keepDays: number },
  add: AddObject,
): Promise<void> {
  const batches = new Set(missing.map((key) => must(batchOfKey(key), `batch of ${key}`)));
  const known = new Set(keys);
  let lost = [...missing];
  for (let looks = 0; lost.length > 0; looks++) {
    if (looks === NAMED_LOOKS_MAX) throw objectsMissing(lost);
    if (looks > 0) await delay(NAMED_PAUSE_MS);
    const named = new Set(await listObjectKeys(sql, { batches: [...batches], keepDays }));
    lost = lost.filter((key) => named.has(key));
    for (const key of named) {
      // What a claim has written since belongs to no row of the backup.
      if (known.has(key) || isOfClaim(key)) continue;
      known.add(key);
      if (!(await add(key))) lost.push(key);
    }
  }
}

function objectsMissing(lost: readonly string[]) {
  const message = `The store lacks ${lost.length} ${lost.length === 1 ? 'file' : 'files'} that the database names, such as ${lost[0]}. Put them back, or run \`enrich doctor --fix\`, and repeat the backup. The new backup was not kept.`;
  return conflict('objects_missing', message);
}

function nothingToBackUp(): AppError {
  const message =
    'The database has no account: there is nothing to back up. Is it the database of the service? Correct DATABASE_URL or --data-dir.';
  return new AppError({ code: 'not_found', status: 404, message });
}

async function addTable(tar: Pack, tx: Sql, table: BackupTable): Promise<number> {
  let pieces = 0;
  let held: Buffer[] = [];
  let bytes = 0;
  const flush = async () => {
    if (bytes === 0) return;
    pieces++;
    await addEntry(tar, `tables/${table.name}/${pieces}`, held);
    held = [];
    bytes = 0;
  };
  const rows = await readTable(tx, table);
  try {
    for await (const row of rows.iterator({ destroyOnReturn: false })) {
      held.push(row as Buffer);
      bytes += (row as Buffer).length;
      if (bytes >= PIECE_BYTES) await flush();
    }
  } catch (error) {
    // The connection is free for the rollback once the server has sent the rest, which nothing else reads.
    await finished(rows.resume()).catch(() => {});
    throw error;
  }
  await flush();
  return pieces;
}

/** Ends with an error too when the reader of the backup is gone, as on a full disk: the entry has no event for it. */
async function addEntry(tar: Pack, name: string, bytes: readonly Buffer[]): Promise<void> {
  const whole = Buffer.concat(bytes);
  await new Promise<void>((resolve, reject) => {
    const ended = (error?: Error | null) => (error ? reject(error) : resolve());
    tar.entry({ name, size: whole.length }, whole, ended).on('error', reject);
  });
}

interface FoundObject {
  key: string;
  /** Null when it does not exist any more. */
  size: number | null;
  /** The bytes of a small one. */
  bytes: Buffer | null;
}

async function findObject(store: ObjectStore, key: string): Promise<FoundObject> {
  const size = await store.head(key);
  if (size === null || size === 0 || size > SMALL_BYTES_MAX) return { key, size, bytes: null };
  const bytes = await nullIfMissing(store.get(key, { from: 0, to: size }));
  return { key, size: bytes === null ? null : size, bytes };
}

/** Returns the size of the object; null for one that does not exist any more. */
async function addObject(
  tar: Pack,
  store: ObjectStore,
  { key, size, bytes }: FoundObject,
): Promise<number | null> {
  if (size === null) return null;
  const name = `objects/${key}`;
  if (bytes !== null) {
    await addEntry(tar, name, [bytes]);
    return size;
  }
  const pieces = store.getStream(key)[Symbol.asyncIterator]();
  const first = await nullIfMissing(pieces.next());
  if (first === null) return null;
  const whole = async function* () {
    for (let piece = first; piece.done !== true; piece = await pieces.next()) yield piece.value;
  };
  await pipeline(whole, tar.entry({ name, size }));
  return size;
}

async function nullIfMissing<T>(reading: Promise<T>): Promise<T | null> {
  return reading.catch((error: unknown) => {
    if (isObjectMissing(error)) return null;
    throw error;
  });
}
