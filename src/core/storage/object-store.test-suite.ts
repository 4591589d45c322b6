/** Promises of every store. Each driver's test file runs this suite. */
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ObjectStore } from './object-store.ts';

export interface StoreUnderTest {
  store: ObjectStore;
  /** Names of everything in it, partial writes included. */
  everything(): Promise<string[]>;
  /** Bytes that it has received so far. */
  bytesTaken(): Promise<number>;
  /** Maximum bytes of one stream that the driver may hold in memory. */
  heldBytesMax: number;
  close(): Promise<void>;
}

const MiB = 1024 * 1024;

export function testObjectStore(open: () => Promise<StoreUnderTest>): void {
  let subject: StoreUnderTest;
  let store: ObjectStore;
  beforeAll(async () => {
    subject = await open();
    store = subject.store;
  });
  afterAll(() => subject.close());

  const missing = expect.objectContaining({ code: 'object_missing', status: 503 });
  const read = async (key: string) => collect(store.getStream(key));

  // Nothing, less than a part, exactly one, one and a byte, three: an upload takes a different path for each.
  describe.each([0, 1, 5 * MiB, 5 * MiB + 1, 10 * MiB + 3])('an object of %i bytes', (size) => {
    const bytes = randomBytes(size);

    test('is read as it was put from a stream', async () => {
      const key = `sizes/stream-${size}`;
      expect(await store.putStream(key, Readable.from(blocksOf(bytes)))).toEqual({
        bytes: size,
        crc32: crc32(bytes),
        headCrc32: crc32(bytes.subarray(0, 65_536)),
      });
      expect(await store.head(key)).toBe(size);
      expect((await store.get(key, { from: 0, to: size })).equals(bytes)).toBe(true);
      expect((await read(key)).equals(bytes)).toBe(true);
    });

    test('is read as it was put from several buffers', async () => {
      const key = `sizes/buffers-${size}`;
      const third = Math.ceil(size / 3);
      const pieces = [0, 1, 2].map((n) => bytes.subarray(n * third, (n + 1) * third));
      expect(await store.put(key, pieces)).toEqual({ bytes: size, crc32: crc32(bytes) });
      expect(await store.head(key)).toBe(size);
      expect((await read(key)).equals(bytes)).toBe(true);
    });
  });

  describe('a range', () => {
    const bytes = Buffer.from('0123456789');
    beforeAll(() => store.put('ranges/digits', [bytes]));

    test.each([
      [0, 10, '0123456789'],
      [0, 1, '0'],
      [9, 10, '9'],
      [3, 7, '3456'],
      [7, 100, '789'],
      [10, 12, ''],
      [50, 60, ''],
    ])('from %i to %i returns the bytes that exist', async (from, to, expected) => {
      expect((await store.get('ranges/digits', { from, to })).toString()).toBe(expected);
      const streamed = await collect(store.getStream('ranges/digits', { from, to }));
      expect(streamed.toString()).toBe(expected);
    });

    test('of no bytes is empty, read at once', async () => {
      expect(await store.get('ranges/digits', { from: 4, to: 4 })).toHaveLength(0);
    });
  });

  describe('a missing object', () => {
    test('is named by the error of every read', async () => {
      await expect(store.get('missing/one', { from: 0, to: 5 })).rejects.toEqual(missing);
      await expect(store.get('missing/one', { from: 0, to: 0 })).rejects.toEqual(missing);
      await expect(read('missing/one')).rejects.toEqual(missing);
      await expect(collect(store.getStream('missing/one', { from: 1, to: 2 }))).rejects.toEqual(
        missing,
      );
      expect(await store.head('missing/one')).toBeNull();
    });

    test('may be deleted, even twice', async () => {
      await store.put('missing/two', [Buffer.from('x')]);
      await store.delete('missing/two');
      await store.delete('missing/two');
      expect(await store.head('missing/two')).toBeNull();
      await store.deletePrefix('missing/none-below/');
    });
  });

  describe('a stream that fails', () => {
    test.each([0, 1, 6 * MiB, 17 * MiB])('after %i bytes leaves nothing', async (size) => {
      const before = await subject.everything();
      const broken = Readable.from(blocksOf(randomBytes(size), new Error('the client hung up')));
      await expect(store.putStream('failing/new', broken)).rejects.toThrow('the client hung up');
      expect(await subject.everything()).toEqual(before);
    });

    test('leaves the existing object', async () => {
      await store.put('failing/old', [Buffer.from('old')]);
      const before = await subject.everything();
      const broken = Readable.from(blocksOf(randomBytes(12 * MiB), new Error('no more')));
      await expect(store.putStream('failing/old', broken)).rejects.toThrow('no more');
      expect((await read('failing/old')).toString()).toBe('old');
      expect(await subject.everything()).toEqual(before);
    });

    test('because it was destroyed leaves nothing', async () => {
      const before = await subject.everything();
      const source = new Readable({ read() {} });
      source.push(randomBytes(6 * MiB));
      const stored = store.putStream('failing/destroyed', source);
      source.destroy();
      await expect(stored).rejects.toThrow();
      expect(await subject.everything()).toEqual(before);
    });
  });

  test('a reader sees the old object until the new one is complete', async () => {
    const seen: (number | string | null)[] = [];
    const source = async function* () {
      for (let block = 0; block < 14; block++) {
        yield randomBytes(MiB);
        seen.push(await store.head('half/new'), (await read('half/old')).toString());
      }
    };
    await store.put('half/old', [Buffer.from('old')]);
    const stored = await Promise.all([
      store.putStream('half/new', Readable.from(source())),
      store.putStream('half/old', Readable.from(source())),
    ]);
    expect(stored).toMatchObject([{ bytes: 14 * MiB }, { bytes: 14 * MiB }]);
    const beforeTheEnds = seen.slice(0, 24);
    expect(new Set(beforeTheEnds)).toEqual(new Set([null, 'old']));
    expect(await store.head('half/new')).toBe(14 * MiB);
    expect(await store.head('half/old')).toBe(14 * MiB);
  });

  test('of concurrent puts of one key one whole object wins', async () => {
    const objects = Array.from({ length: 6 }, (_, n) => Buffer.alloc((n + 1) * 2 * MiB, n));
    await Promise.all(
      objects.map((bytes, n) =>
        n % 2 === 0
          ? store.put('race/key', [bytes])
          : store.putStream('race/key', Readable.from(blocksOf(bytes))),
      ),
    );
    const won = await read('race/key');
    expect(objects.some((bytes) => bytes.equals(won))).toBe(true);
    expect((await subject.everything()).filter((name) => name.includes('race'))).toHaveLength(1);
  });

  test('a long stream is never buffered, in either direction', async () => {
    const blocks = 50 * 16;
    const wanted = createHash('sha256');
    const takenBefore = await subject.bytesTaken();
    let given = 0;
    let heldMax = 0;
    const source = async function* () {
      for (let n = 0; n < blocks; n++) {
        const block = Buffer.alloc(MiB / 16, n);
        wanted.update(block);
        given += block.length;
        const taken = (await subject.bytesTaken()) - takenBefore;
        heldMax = Math.max(heldMax, given - taken);
        yield block;
      }
    };
    const { bytes } = await store.putStream('long/stream', Readable.from(source()));
    expect(bytes).toBe(50 * MiB);
    expect(heldMax).toBeLessThanOrEqual(subject.heldBytesMax);
    const found = createHash('sha256');
    let largest = 0;
    for await (const block of store.getStream('long/stream')) {
      found.update(block as Buffer);
      largest = Math.max(largest, (block as Buffer).length);
    }
    expect(found.digest('hex')).toBe(wanted.digest('hex'));
    expect(largest).toBeLessThanOrEqual(MiB);
  });

  test('a prefix of 1,500 objects is deleted, and nothing else', async () => {
    const keys = Array.from({ length: 1500 }, (_, n) => `prefix/a/${n % 7}/object-${n}`);
    const others = ['prefix/ab', 'prefix/b/1', 'prefix/a.txt'];
    for (let at = 0; at < keys.length; at += 50) {
      await Promise.all(keys.slice(at, at + 50).map((key) => store.put(key, [Buffer.from(key)])));
    }
    for (const key of others) await store.put(key, [Buffer.from(key)]);
    await store.deletePrefix('prefix/a/');
    const left = (await subject.everything()).filter((name) => name.includes('prefix/'));
    expect(left.sort()).toEqual(others.sort());
    await store.deletePrefix('prefix/a/');
  });

  test('the list of keys contains every object once', async () => {
    const keys = ['list/a', 'list/b/c', 'list/b/d.csv'];
    for (const key of keys) await store.put(key, [Buffer.from(key)]);
    const listed = async (prefix?: string) => {
      const found: string[] = [];
      for await (const key of store.list(prefix)) if (key.startsWith('list/')) found.push(key);
      return found.sort();
    };
    expect(await listed()).toEqual(keys);
    expect(await store.head(keys[1] ?? '')).toBe(8);
    expect(await listed('list/b/')).toEqual(keys.slice(1));
    expect(await listed('none/')).toEqual([]);
  });

  test.each(['', '/a', 'a/', 'a//b', '../a', 'a/../b', 'a b', 'Lüneburg', 'a\0', 'a?b', '.a'])(
    'the key %j is a bug of the caller',
    async (key) => {
      const bug = /object key .*is well-formed/s;
      await expect(store.put(key, [Buffer.from('x')])).rejects.toThrow(bug);
      await expect(store.putStream(key, Readable.from(['x']))).rejects.toThrow(bug);
      await expect(store.get(key, { from: 0, to: 1 })).rejects.toThrow(bug);
      await expect(store.head(key)).rejects.toThrow(bug);
      await expect(store.delete(key)).rejects.toThrow(bug);
      await expect(async () => store.getStream(key)).rejects.toThrow(bug);
    },
  );

  test.each(['', '/', 'a', '../', 'a//'])(
    'the prefix %j is a bug of the caller',
    async (prefix) => {
      await expect(store.deletePrefix(prefix)).rejects.toThrow(/assertion failed/);
      expect(() => store.list(prefix)).toThrow(/assertion failed/);
    },
  );
}

/** Blocks of 64 KiB, followed by an error if one is given. */
function* blocksOf(bytes: Buffer, error?: Error): Generator<Buffer> {
  const step = MiB / 16;
  for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
  if (error !== undefined) throw error;
}

async function collect(stream: Readable): Promise<Buffer> {
  const blocks: Buffer[] = [];
  for await (const block of stream) blocks.push(block as Buffer);
  return Buffer.concat(blocks);
}
