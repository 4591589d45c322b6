/** Object store in a folder. A write goes to a temporary name, is synced, and is renamed; then its folder is synced. */
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { uuidv7 } from 'uuidv7';
import { assert } from '../lib/assert.ts';
import { assertKey, assertPrefix } from './object-key.ts';
import {
  type ByteRange,
  type ObjectStore,
  type ObjectSum,
  objectMissing,
  type StreamSum,
} from './object-store.ts';
import { emptySum, summed, sumOf } from './object-sum.ts';

/** Opens a store whose objects are files in `folder`. */
export function openFileStore(folder: string): ObjectStore {
  const fileOf = (key: string) => {
    assertKey(key);
    return path.join(folder, key);
  };
  return {
    putStream: async (key, source) => putStream(fileOf(key), source),
    put: async (key, bytes) => put(fileOf(key), bytes),
    get: async (key, range) => get(fileOf(key), key, range),
    getStream: (key, range) =>
      Readable.from(read(fileOf(key), key, range), { objectMode: false, highWaterMark: 64 * 1024 }),
    head: async (key) => head(fileOf(key)),
    delete: async (key) => rm(fileOf(key), { force: true }),
    deletePrefix: async (prefix) => {
      assertPrefix(prefix);
      await deleteFolder(fileOf(prefix.slice(0, -1)));
    },
    list: (prefix) => {
      if (prefix === undefined) return list(folder);
      assertPrefix(prefix);
      return list(folder, fileOf(prefix.slice(0, -1)));
    },
    presigned: null,
  };
}

async function putStream(file: string, source: Readable): Promise<StreamSum> {
  const temporary = await makeTemporaryFile(file);
  try {
    const sum = emptySum();
    // Opened first: a stream that fails at once would otherwise be removed before its file is made.
    const sink = (await open(temporary, 'wx')).createWriteStream({ flush: true });
    await pipeline(source, (blocks: AsyncIterable<Buffer>) => summed(blocks, sum), sink);
    await giveName(temporary, file);
    return sum;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function put(file: string, bytes: Uint8Array[]): Promise<ObjectSum> {
  const sum = sumOf(bytes);
  const temporary = await makeTemporaryFile(file);
  let handle: FileHandle | undefined;
  try {
    handle = await open(temporary, 'wx');
    // Not `writev`, which may write only a part and reports that only in its result.
    for (const block of bytes) await handle.writeFile(block);
    await handle.datasync();
    await handle.close();
    handle = undefined;
    await giveName(temporary, file);
    return sum;
  } catch (error) {
    await handle?.close();
    await rm(temporary, { force: true });
    throw error;
  }
}

async function get(file: string, key: string, range: ByteRange): Promise<Buffer> {
  const length = range.to - range.from;
  assert(length >= 0, `range of ${key} is not reversed`);
  const handle = await openToRead(file, key);
  try {
    const bytes = Buffer.allocUnsafe(length);
    const { bytesRead } = await handle.read(bytes, 0, length, range.from);
    return bytesRead === length ? bytes : bytes.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function* read(file: string, key: string, range?: ByteRange): AsyncGenerator<Buffer> {
  assert(range === undefined || range.from < range.to, `range of ${key} is not empty`);
  const handle = await openToRead(file, key);
  // `end` is inclusive here. The stream closes the handle.
  yield* handle.createReadStream(
    range === undefined ? {} : { start: range.from, end: range.to - 1 },
  );
}

async function openToRead(file: string, key: string): Promise<FileHandle> {
  try {
    return await open(file, 'r');
  } catch (cause) {
    if (isMissing(cause)) throw objectMissing(key, cause);
    throw cause;
  }
}

async function head(file: string): Promise<number | null> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function deleteFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (error) {
    // It ended at the first file that it could not delete, or in a folder in which a file was written meanwhile.
    let isWhole = (error as NodeJS.ErrnoException).code === 'ENOTEMPTY';
    for await (const file of files(folder)) {
      await rm(file, { force: true }).catch(() => {
        isWhole = false;
      });
    }
    if (!isWhole) throw error;
  }
}

async function* list(folder: string, within = folder): AsyncGenerator<string> {
  for await (const file of files(within)) {
    yield path.relative(folder, file).split(path.sep).join('/');
  }
}

/** The files in a folder and below it, one after the other: a store may have millions. Folders that cannot be read come last. */
async function* files(within: string): AsyncGenerator<string> {
  const folders = [within];
  const errors: unknown[] = [];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        const name = path.join(folder, entry.name);
        if (entry.isDirectory()) folders.push(name);
        else if (entry.isFile()) yield name;
      }
    } catch (error) {
      if (!isMissing(error)) errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

async function makeTemporaryFile(file: string): Promise<string> {
  const folder = path.dirname(file);
  const first = await mkdir(folder, { recursive: true });
  if (first !== undefined) await syncMade(first, folder);
  return `${file}.${uuidv7()}.tmp`;
}

/** Syncs the folders that have new ones in them: those around `last`, up to the one around `first`. */
async function syncMade(first: string, last: string): Promise<void> {
  const end = path.dirname(path.resolve(first));
  for (let folder = path.resolve(last); folder !== end; ) {
    folder = path.dirname(folder);
    await syncFolder(folder);
  }
}

/** Gives a synced file its name. */
async function giveName(temporary: string, file: string): Promise<void> {
  await rename(temporary, file);
  await syncFolder(path.dirname(file));
}

/**
 * Errors of file systems that cannot sync folders, such as network shares, some FUSE mounts, and Windows. Whether a name
 * survives a power failure is up to them. Postgres ignores the same errors in `fsync_fname_ext` (src/common/file_utils.c).
 */
const folderRefusals: ReadonlySet<string> = new Set([
  'EACCES',
  'EBADF',
  'EINVAL',
  'EISDIR',
  'ENOSYS',
  'ENOTSUP',
  'EPERM',
]);

/**
 * Makes the names in a folder survive a power failure. The commit that records an object does not: when it overwrites a part
 * of its log, the database server syncs data, not names of the file system. A folder that was deleted meanwhile has no names.
 */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!isMissing(error) && !folderRefusals.has(code)) throw error;
  }
}
