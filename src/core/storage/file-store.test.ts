import { type FileHandle, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openFileStore } from './file-store.ts';
import { testObjectStore } from './object-store.test-suite.ts';

afterEach(() => vi.restoreAllMocks());

/** Records what each folder at and below `root` had in it when it was synced last. */
async function watchSyncs(root: string): Promise<ReadonlyMap<string, string[]>> {
  const synced = new Map<string, string[]>();
  const handle = await open(root, 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { sync } = prototype;
  vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    const { ino } = await this.stat();
    const below = await readdir(root, { recursive: true });
    for (const folder of [root, ...below.map((name) => path.join(root, name))]) {
      const found = await stat(folder);
      if (found.isDirectory() && found.ino === ino) synced.set(folder, await readdir(folder));
    }
    return sync.call(this);
  });
  return synced;
}

test.each([
  ['put', (bytes: Buffer) => [bytes]],
  ['putStream', (bytes: Buffer) => Readable.from([bytes])],
] as const)('%s has synced the names of the object and of its folders', async (put, given) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'enrich-names-'));
  const synced = await watchSyncs(folder);
  const store = openFileStore(folder);
  const stored = (key: string) => store[put](key, given(Buffer.from('a')) as never);
  await stored('batches/b/parts/1.csv');
  expect(Object.fromEntries(synced)).toEqual({
    [folder]: ['batches'],
    [path.join(folder, 'batches')]: ['b'],
    [path.join(folder, 'batches/b')]: ['parts'],
    [path.join(folder, 'batches/b/parts')]: ['1.csv'],
  });
  await stored('batches/b/parts/2.csv');
  expect(synced.get(path.join(folder, 'batches/b/parts'))).toEqual(['1.csv', '2.csv']);
  await rm(folder, { recursive: true });
});

/** Lets the sync of any folder fail with this code, as a file system does. */
async function refuseSyncs(root: string, code: string): Promise<void> {
  const handle = await open(root, 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { sync } = prototype;
  vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    if ((await this.stat()).isDirectory()) throw Object.assign(new Error(code), { code });
    return sync.call(this);
  });
}

test.each(['EBADF', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM'])(
  'objects are stored where the file system answers the sync of a folder with %s',
  async (code) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'enrich-unsynced-'));
    await refuseSyncs(folder, code);
    const store = openFileStore(folder);
    await store.put('batches/b/parts/1.csv', [Buffer.from('a')]);
    await store.putStream('batches/b/upload', Readable.from([Buffer.from('bc')]));
    expect(await store.head('batches/b/parts/1.csv')).toBe(1);
    expect(await store.head('batches/b/upload')).toBe(2);
    await rm(folder, { recursive: true });
  },
);

test.each(['EIO', 'ENOSPC', 'EDQUOT'])(
  'a put rejects when the sync of its folder fails with %s',
  async (code) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'enrich-unsynced-'));
    await refuseSyncs(folder, code);
    const stored = openFileStore(folder).put('part', [Buffer.from('a')]);
    await expect(stored).rejects.toMatchObject({ code });
    await rm(folder, { recursive: true });
  },
);

describe('files in a folder', () => {
  testObjectStore(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'enrich-files-'));
    const files = async () => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
        .sort();
    };
    return {
      store: openFileStore(folder),
      everything: files,
      async bytesTaken() {
        const sizes = await Promise.all(
          (await files()).map(async (file) => (await stat(path.join(folder, file))).size),
        );
        return sizes.reduce((sum, size) => sum + size, 0);
      },
      // The buffer of a file's own writer, and a block on either side of it.
      heldBytesMax: 1024 * 1024,
      close: () => rm(folder, { recursive: true, force: true }),
    };
  });
});

test('a prefix is deleted while objects are written below it: those that it had before are gone', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'enrich-written-'));
  const store = openFileStore(folder);
  for (let round = 0; round < 50; round++) {
    await store.put('batches/b/parts/old.csv', [Buffer.from('a')]);
    const puts = Array.from({ length: 20 }, (_, n) =>
      store.put(`batches/b/parts/${n}.csv`, [Buffer.from('a')]),
    );
    // One whose folder is deleted before it has its name rejects.
    const written = Promise.allSettled(puts);
    await store.deletePrefix('batches/b/');
    await written;
    expect(await store.head('batches/b/parts/old.csv')).toBeNull();
  }
  await rm(folder, { recursive: true });
});
