/** Object store over a folder. A write goes to a temporary name, is synced, and is renamed. */
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { uuidv7 } from 'uuidv7';
import { assert } from '../lib/assert.ts';
import { AppError } from '../lib/errors.ts';
import type { ByteRange, ObjectStore } from './object-store.ts';

const KEY = /^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/;

/** Opens a store whose objects are files below `folder`. */
export function openFileStore(folder: string): ObjectStore {
  const fileOf = (key: string) => {
    assert(KEY.test(key), `object key ${key} is well-formed`);
    return path.join(folder, key);
  };
  return {
    putStream: (key, source) => putStream(fileOf(key), source),
    put: (key, bytes) => put(fileOf(key), bytes),
    get: (key, range) => get(fileOf(key), key, range),
    getStream: (key, range) =>
      createReadStream(
        fileOf(key),
        range === undefined ? {} : { start: range.from, end: range.to - 1 },
      ),
    delete: (key) => rm(fileOf(key), { force: true }),
    deletePrefix: (prefix) => {
      assert(prefix.endsWith('/'), `prefix ${prefix} ends in a slash`);
      return rm(fileOf(prefix.slice(0, -1)), { recursive: true, force: true });
    },
  };
}

async function putStream(file: string, source: Readable): Promise<number> {
  const temporary = await temporaryBeside(file);
  try {
    const sink = createWriteStream(temporary, { flush: true });
    await pipeline(source, sink);
    await rename(temporary, file);
    return sink.bytesWritten;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function put(file: string, bytes: Uint8Array[]): Promise<void> {
  const temporary = await temporaryBeside(file);
  let handle: FileHandle | undefined;
  try {
    handle = await open(temporary, 'wx');
    await handle.writev(bytes);
    await handle.datasync();
    await handle.close();
    handle = undefined;
    await rename(temporary, file);
  } catch (error) {
    await handle?.close();
    await rm(temporary, { force: true });
    throw error;
  }
}

async function get(file: string, key: string, range: ByteRange): Promise<Buffer> {
  const length = range.to - range.from;
  assert(length >= 0, `range of ${key} is not reversed`);
  let handle: FileHandle;
  try {
    handle = await open(file, 'r');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new AppError({
      code: 'object_missing',
      status: 503,
      message: `The stored object ${key} is not there.`,
      cause,
    });
  }
  try {
    const bytes = Buffer.allocUnsafe(length);
    const { bytesRead } = await handle.read(bytes, 0, length, range.from);
    return bytesRead === length ? bytes : bytes.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function temporaryBeside(file: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true });
  return `${file}.${uuidv7()}.tmp`;
}
