/**
 * Lengths and checksums of stored objects. They are recorded in the database with the object's key and compared at
 * every read, so that a truncated or changed object is an error, never a shorter file. CRC-32 (the one of zip and
 * gzip) detects every single flipped byte, and comes with Node: it runs at 6 GB/s, CRC-32C in JavaScript at 0.45
 * GB/s.
 */
import { Counter } from 'prom-client';
import { addToCrc32 } from '../lib/add-to-crc32.ts';
import { AppError } from '../lib/errors.ts';
import { metrics } from '../metrics.ts';
import type { ByteRange, ObjectStore, ObjectSum, StreamSum } from './object-store.ts';

/** Readers of an object's beginning read this many bytes, or the whole object when it is shorter. */
export const HEAD_BYTES_MAX = 65_536;

export const objectsDamaged = new Counter({
  name: 'enrich_objects_damaged_total',
  help: 'Reads that found a stored object truncated or changed, and objects that the scrub found missing.',
  labelNames: ['found'],
  registers: [metrics],
});
// Starts at 0, so that an alert on the growth sees the first one.
for (const found of ['damaged', 'missing']) objectsDamaged.inc({ found }, 0);

/** Passes a stream's blocks on and adds them to `sum`, which starts empty. */
export async function* summed(
  source: AsyncIterable<Buffer>,
  sum: StreamSum,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const block of source) {
    if (sum.bytes < HEAD_BYTES_MAX) {
      sum.headCrc32 = addToCrc32(sum.headCrc32, block.subarray(0, HEAD_BYTES_MAX - sum.bytes));
    }
    sum.crc32 = addToCrc32(sum.crc32, block);
    sum.bytes += block.length;
    yield block;
  }
}

/** The sum of no bytes, from which `summed` starts. */
export function emptySum(): StreamSum {
  return { bytes: 0, crc32: 0, headCrc32: 0 };
}

/** Returns the sum of these buffers in order. */
export function sumOf(buffers: readonly Uint8Array[]): ObjectSum {
  let sum = 0;
  let bytes = 0;
  for (const buffer of buffers) {
    sum = addToCrc32(sum, buffer);
    bytes += buffer.length;
  }
  return { bytes, crc32: sum };
}

/**
 * Reads a whole object into memory. Throws `AppError`: 503 `object_missing`, 500 `object_damaged` when it differs
 * from what was written, after a second read in case the damage happened in transit.
 */
export async function readObject(store: ObjectStore, key: string, sum: ObjectSum): Promise<Buffer> {
  // Backups leave objects without a byte out: there is nothing in them to miss.
  if (sum.bytes === 0) return Buffer.alloc(0);
  // One byte more: an object that has grown is damaged too.
  return readSound(store, key, { from: 0, to: sum.bytes + 1 }, sum);
}

/** Reads a range of an object into memory, with the checksum of that range. Throws as `readObject`. */
export function readRange(
  store: ObjectStore,
  key: string,
  range: ByteRange,
  sum: number,
): Promise<Buffer> {
  return readSound(store, key, range, { bytes: range.to - range.from, crc32: sum });
}

/** Reads the first `HEAD_BYTES_MAX` bytes of an object, or all of a shorter one. Throws as `readObject`. */
export function readHead(
  store: ObjectStore,
  key: string,
  { bytes, headCrc32 }: Pick<StreamSum, 'bytes' | 'headCrc32'>,
): Promise<Buffer> {
  return readRange(store, key, { from: 0, to: Math.min(bytes, HEAD_BYTES_MAX) }, headCrc32);
}

/**
 * Streams a whole object. When it differs from what was written the stream ends in `AppError` 500
 * `object_damaged`, but only after its last block: a reader must not use anything before the end.
 */
export async function* streamObject(
  store: Pick<ObjectStore, 'getStream'>,
  key: string,
  sum: ObjectSum,
): AsyncGenerator<Buffer, void, undefined> {
  const found = emptySum();
  yield* summed(store.getStream(key), found);
  if (!isSound(found, sum)) throw objectDamaged(key, sum, found);
}

/** Objects up to this size are verified in one read: most are small, and a stream takes several times as long to set up. */
const ONE_READ_BYTES_MAX = 256 * 1024;

/** Reads a whole object and throws as `readObject` unless it is what was written. Keeps none of a long one in memory. */
export async function verifyObject(store: ObjectStore, key: string, sum: ObjectSum): Promise<void> {
  if (sum.bytes > 0 && sum.bytes <= ONE_READ_BYTES_MAX) {
    await readObject(store, key, sum);
    return;
  }
  await twiceIfDamaged(async () => {
    for await (const _ of streamObject(store, key, sum));
  });
}

/**
 * Reads a whole object and returns the checksum of each `pieceBytes` of it, with which `readRange` reads them later. Awaits
 * `turn` before each of them. Throws as `readObject`, and what `turn` throws. Keeps none of it in memory.
 */
export function readPieceSums(
  store: ObjectStore,
  key: string,
  sum: ObjectSum,
  { pieceBytes, turn }: { pieceBytes: number; turn: () => Promise<void> },
): Promise<number[]> {
  return twiceIfDamaged(async () => {
    await turn();
    const sums: number[] = [];
    let piece = 0;
    let left = pieceBytes;
    for await (const block of streamObject(store, key, sum)) {
      for (let at = 0; at < block.length; ) {
        const bytes = block.subarray(at, at + left);
        piece = addToCrc32(piece, bytes);
        at += bytes.length;
        left -= bytes.length;
        if (left > 0) continue;
        sums.push(piece);
        [piece, left] = [0, pieceBytes];
        await turn();
      }
    }
    if (left < pieceBytes) sums.push(piece);
    return sums;
  });
}

/** Repeats a piece of work when it met a damaged object: the damage may have happened in transit. */
export async function twiceIfDamaged<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isObjectDamaged(error)) throw error;
    return work();
  }
}

/** Returns true for the error of a store for a missing object. */
export function isObjectMissing(error: unknown): boolean {
  return error instanceof AppError && error.code === 'object_missing';
}

/** Returns true for the error of a reader for a damaged object. */
export function isObjectDamaged(error: unknown): error is AppError & { code: 'object_damaged' } {
  return error instanceof AppError && error.code === 'object_damaged';
}

/** Returns true for either of the two. */
export function isObjectLost(error: unknown): error is AppError {
  return isObjectMissing(error) || isObjectDamaged(error);
}

function readSound(
  store: ObjectStore,
  key: string,
  range: ByteRange,
  sum: ObjectSum,
): Promise<Buffer> {
  return twiceIfDamaged(async () => {
    const bytes = await store.get(key, range);
    const found = sumOf([bytes]);
    if (!isSound(found, sum)) throw objectDamaged(key, sum, found);
    return bytes;
  });
}

function isSound(found: ObjectSum, sum: ObjectSum): boolean {
  return found.bytes === sum.bytes && found.crc32 === sum.crc32;
}

/** 500, and retrying is pointless: the object has to be restored, or its owner made again. */
function objectDamaged(key: string, sum: ObjectSum, found: ObjectSum): AppError {
  objectsDamaged.inc({ found: 'damaged' });
  const how =
    found.bytes < sum.bytes
      ? `it ended after ${found.bytes} of ${sum.bytes} bytes`
      : found.bytes > sum.bytes
        ? `it is longer than its ${sum.bytes} bytes`
        : `the checksum of its ${sum.bytes} bytes differs`;
  return new AppError({
    code: 'object_damaged',
    status: 500,
    message: `The stored object ${key} is damaged: ${how}.`,
    extensions: { object: key },
  });
}
