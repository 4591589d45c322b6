/** Readers of results hold little, however many they are and however slowly their clients read. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { must } from '../../core/lib/assert.ts';
import { openFileStore } from '../../core/storage/file-store.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { sumOf } from '../../core/storage/object-sum.ts';
import type { Part } from './parts.sql.ts';
import type { PartsContext } from './read-part.ts';
import { openParts, PIECE_BYTES } from './read-parts.ts';

const PART_BYTES = 6 * 1024 * 1024 + 17;
const ACCOUNT = '0197a2f4-0000-7000-8000-000000000001';
const OTHER_ACCOUNT = '0197a2f4-0000-7000-8000-000000000002';
const KEY = 'batches/a/parts/1-0-1.csv';
const content = randomBytes(PART_BYTES);
const part: Part = {
  ...{ batchId: 'a', chunkNumber: 1, number: 1, objectKey: KEY, firstRow: 1, rows: 1 },
  ...{ rowBytesMax: PART_BYTES, ...sumOf([content]) },
};

let folder: string;
let context: PartsContext;
/** Bytes of each read into memory. */
let reads: number[];
/** Objects that were read to verify them. */
let verified: string[];
let streams: Readable[];
/** Called with the first bytes of each of these. */
let onReadable: () => void;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'read-parts-'));
  const files = openFileStore(folder);
  const store: ObjectStore = {
    ...files,
    get: async (key, range) => {
      const bytes = await files.get(key, range);
      reads.push(bytes.length);
      return bytes;
    },
    getStream: (key) => {
      verified.push(key);
      const stream = files.getStream(key);
      streams.push(stream.once('readable', () => onReadable()));
      return stream;
    },
  };
  context = { store } as PartsContext;
});
beforeEach(async () => {
  reads = [];
  verified = [];
  streams = [];
  onReadable = () => {};
  await context.store.put(KEY, [content]);
});
afterAll(() => rm(folder, { recursive: true }));

type Pieces = Awaited<ReturnType<typeof openParts>>;

const begin = async (parts: Part[] = [part]) => {
  const pieces = await openParts(context, ACCOUNT, parts);
  const { value } = await pieces.next();
  return { pieces, first: value?.bytes };
};
const readAll = async (pieces: Pieces) => {
  const read: Buffer[] = [];
  for await (const { bytes } of pieces) {
    expect(bytes.length).toBeLessThanOrEqual(PIECE_BYTES);
    // A view of the whole part would keep it.
    expect(bytes.buffer.byteLength).toBeLessThan(2 * PIECE_BYTES);
    read.push(bytes);
  }
  return Buffer.concat(read);
};

test('few hold a whole part, the others a piece; all read the same bytes', async () => {
  const slow = [await begin(), await begin()];
  expect(reads).toEqual([PART_BYTES, PART_BYTES]);
  reads = [];
  expect(
    (await readAll(await openParts(context, ACCOUNT, [part, part]))).equals(
      Buffer.concat([content, content]),
    ),
  ).toBe(true);
  expect(Math.max(...reads)).toBe(PIECE_BYTES);
  for (const { pieces, first } of slow) {
    expect(Buffer.concat([first ?? Buffer.alloc(0), await readAll(pieces)]).equals(content)).toBe(
      true,
    );
  }
  reads = [];
  await (await begin()).pieces.return(undefined);
  expect(reads).toEqual([PART_BYTES]);
});

test('a download that was opened and never read takes no room, nor one that was left', async () => {
  for (let time = 0; time < 4; time++) {
    await (await openParts(context, ACCOUNT, [part])).return(undefined);
    await (await begin()).pieces.return(undefined);
  }
  expect(reads).toEqual(Array.from({ length: 4 }, () => PART_BYTES));
});

test('a damaged part is refused before its first byte, and one that is damaged meanwhile ends the download', async () => {
  const slow = [await begin(), await begin()];
  const { pieces } = await begin();
  const damaged = Buffer.from(content);
  damaged.writeUInt8((content.at(-1) ?? 0) ^ 1, PART_BYTES - 1);
  await writeFile(path.join(folder, KEY), damaged);
  await expect(openParts(context, ACCOUNT, [part])).rejects.toMatchObject({
    code: 'object_damaged',
  });
  await expect(readAll(pieces)).rejects.toMatchObject({ code: 'object_damaged' });
  for (const one of slow) await one.pieces.return(undefined);
});

test('downloads of one part that begin at once verify it once, and each later one again', async () => {
  const opened = await Promise.all(
    Array.from({ length: 20 }, () => openParts(context, ACCOUNT, [part])),
  );
  expect(verified).toEqual([KEY]);
  await openParts(context, ACCOUNT, [part]);
  expect(verified).toEqual([KEY, KEY]);
  expect((await readAll(must(opened[19], 'a download'))).equals(content)).toBe(true);
});

test('a damaged part refuses all downloads that begin at once, and none after it is mended', async () => {
  await writeFile(path.join(folder, KEY), content.subarray(1));
  const opened = await Promise.allSettled([
    openParts(context, ACCOUNT, [part]),
    openParts(context, ACCOUNT, [part]),
  ]);
  expect(opened.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await writeFile(path.join(folder, KEY), content);
  expect((await readAll(await openParts(context, ACCOUNT, [part]))).equals(content)).toBe(true);
});

test('the verification of a part ends with the last download that waits for it', async () => {
  const gone = new Error('gone');
  const open = (signal: AbortSignal) => openParts({ ...context, signal }, ACCOUNT, [part]);
  const [first, last] = [new AbortController(), new AbortController()];
  onReadable = () => last.abort(gone);
  const opened = Promise.allSettled([open(first.signal), open(last.signal)]);
  first.abort(gone);
  expect(await opened).toEqual(Array(2).fill({ status: 'rejected', reason: gone }));
  expect(streams[0]).toMatchObject({ destroyed: true, readableEnded: false });
  await expect(open(last.signal)).rejects.toBe(gone);
  expect(verified).toEqual([KEY]);
  // One that is left does not end that of another.
  const [left, stays] = [new AbortController(), new AbortController()];
  const others = [open(left.signal), open(stays.signal)];
  left.abort(gone);
  expect((await readAll(await must(others[1], 'download'))).equals(content)).toBe(true);
  await Promise.allSettled(others);
});

test('of many downloads as many read a file at a time as there are threads for it, round-robin by account', async () => {
  const other = { ...part, objectKey: `${KEY}-other` };
  await context.store.put(other.objectKey, [content]);
  let reading = 0;
  let most = 0;
  const read: string[] = [];
  const { store } = context;
  const get: ObjectStore['get'] = async (key, range) => {
    reading += 1;
    most = Math.max(most, reading);
    read.push(key);
    return store.get(key, range).finally(() => {
      reading -= 1;
    });
  };
  const counted = { ...context, store: { ...store, get } };
  const opened = await Promise.all([
    ...Array.from({ length: 40 }, () => openParts(counted, ACCOUNT, [part])),
    openParts(counted, OTHER_ACCOUNT, [other]),
  ]);
  // Those that hold a whole part read no piece.
  for (const pieces of opened.slice(0, 2)) await pieces.next();
  most = 0;
  read.length = 0;
  await Promise.all(opened.slice(2).map((pieces) => pieces.next()));
  expect(most).toBe(4);
  expect(read.indexOf(other.objectKey)).toBeLessThan(10);
  await Promise.all(opened.map((pieces) => pieces.return(undefined)));
});

/** The context of a bucket that is read by `get`. */
const bucketWith = (get: ObjectStore['get']): PartsContext => {
  const presigned = {} as NonNullable<ObjectStore['presigned']>;
  return { ...context, store: { ...context.store, get, presigned } };
};
const small = { ...part, objectKey: `${KEY}-small`, ...sumOf([content.subarray(0, 100)]) };

/** Reads 40 times for one account and once for another; returns the reads in order, with their rounds of the event loop. */
async function readFromBucket(one: Part) {
  const others = { ...one, objectKey: `${KEY}-other` };
  const bytes = content.subarray(0, one.bytes);
  for (const { objectKey } of [one, others]) await context.store.put(objectKey, [bytes]);
  let round = 0;
  let isOver = false;
  const count = () => {
    round += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const begun: { isOwn: boolean; round: number }[] = [];
  const bucket = bucketWith((key, range) => {
    begun.push({ isOwn: key === one.objectKey, round });
    return context.store.get(key, range);
  });
  const read = async (accountId: string, of: Part) => {
    const pieces = await openParts(bucket, accountId, [of]);
    await pieces.next();
    return pieces;
  };
  const opened = await Promise.all([
    ...Array.from({ length: 40 }, () => read(ACCOUNT, one)),
    read(OTHER_ACCOUNT, others),
  ]);
  isOver = true;
  await Promise.all(opened.map((pieces) => pieces.return(undefined)));
  return begun;
}

test.each([
  ['long', part],
  ['short', small],
])(
  'of many downloads of %s results from a bucket an account begins one read in each round of the event loop',
  async (_, one) => {
    const own = (await readFromBucket(one)).filter(({ isOwn }) => isOwn);
    expect(own).toHaveLength(40);
    expect(new Set(own.map(({ round }) => round)).size).toBe(40);
  },
);

test('a download from a bucket does not wait for all those of another account', async () => {
  const begun = await readFromBucket(small);
  expect(begun.findIndex(({ isOwn }) => !isOwn)).toBeLessThan(20);
});

test('the parts of an account that are verified leave room for those of others', async () => {
  const gone = new AbortController();
  const begun: string[] = [];
  const getStream: ObjectStore['getStream'] = (key) => {
    begun.push(key);
    if (begun.length === 3) gone.abort(new Error('gone'));
    return addAbortSignal(gone.signal, new Readable({ read() {} }));
  };
  const stuck = { ...context, store: { ...context.store, getStream }, signal: gone.signal };
  const of = (objectKey: string) => [{ ...part, objectKey }];
  await Promise.allSettled([
    ...['a', 'b', 'c', 'd', 'e'].map((key) => openParts(stuck, ACCOUNT, of(key))),
    openParts(stuck, OTHER_ACCOUNT, of('of another')),
  ]);
  expect(begun.sort()).toEqual(['a', 'b', 'of another']);
});
