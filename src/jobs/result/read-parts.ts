/**
 * Reads the parts of a result for a download, in small pieces: clients decide how many downloads are open and how
 * slowly each is read. Each part is verified before its first byte is sent.
 */
import { must } from '../../core/lib/assert.ts';
import { openShare } from '../../core/limits/shares.ts';
import { nextQuietRound, takeThreadTurn } from '../../core/limits/thread-turns.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import {
  isObjectMissing,
  readObject,
  readPieceSums,
  readRange,
} from '../../core/storage/object-sum.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { assertFilesKept } from './files-kept.ts';
import type { Part } from './parts.sql.ts';
import { atPresentKey, type PartsContext, type ReadAtKey } from './read-part.ts';

/** Some bytes of a part. */
export interface PartPiece extends Pick<Part, 'firstRow'> {
  bytes: Buffer;
  /** True for the end of the part. */
  isLast: boolean;
}

/** Maximum bytes of a piece. */
export const PIECE_BYTES = 64 * 1024;
/** Bytes of the whole parts that all downloads of this process hold. More of them read their parts twice. */
const WHOLE_BYTES_MAX = 16 * 1024 * 1024;
let wholeBytes = 0;
/**
 * Of many downloads some read a piece of a file at a time: as many as there are threads that read files. More would not be read
 * sooner, but more would end in one round of the event loop, which accepts one connection a round (`uv__server_io` of libuv):
 * requests would wait for long rounds.
 */
const FILES_READ_MAX = 4;
const readFileInTurn = openShare({
  name: 'reads of files',
  inFlightMax: FILES_READ_MAX,
  accountInFlightMax: FILES_READ_MAX,
  // Downloads and reruns have limits of their own.
  accountWaitingMax: 1000,
  waitMsMax: 60_000,
});
/** A part that is verified takes a turn of the thread for each piece; few accounts with many parts keep no other one waiting. */
const verifying = openShare({
  name: 'parts of results that are verified',
  // Each holds some blocks of its part.
  inFlightMax: 32,
  accountInFlightMax: 2,
  // Downloads and reruns have limits of their own.
  accountWaitingMax: 1000,
  waitMsMax: 60_000,
});
/** A part that is being verified. It ends early when the last download that waits for it is abandoned. */
interface Verification {
  sums: Promise<number[]>;
  waiting: number;
  end: AbortController;
}

/** By the keys of the parts: downloads of a result that begin at once share them. */
const beingVerified = new WeakMap<ObjectStore, Map<string, Verification>>();

/** The store of the parts, the account whose turns the reads take, and the way to read a part, which may have been replaced. */
interface Source {
  context: PartsContext;
  accountId: string;
  readAt: ReadAtKey;
}

/** A part with the checksums of its pieces, once it is verified. */
interface VerifiedPart extends Part {
  sums: readonly number[];
}

/**
 * The pieces of the parts in order. The first part is verified before this resolves, so that the caller can still
 * refuse the download. Throws `AppError` `object_missing` or `object_damaged`, 410 `files_expired` when the batch is deleted
 * meanwhile, and what `readAt` throws, here or later.
 */
export async function openParts(
  context: PartsContext,
  accountId: string,
  parts: readonly Part[],
  readAt: ReadAtKey = atPresentKey,
): Promise<AsyncGenerator<PartPiece>> {
  const source = { context, accountId, readAt };
  const [first, ...rest] = parts;
  const opened = first === undefined ? null : await openFirst(source, first);
  return (async function* () {
    if (opened !== null) yield* opened();
    for (const part of rest) yield* readPieces(source, part, null);
  })();
}

/** Verifies a part. A short one is kept; nothing else is, because the generator may never be started. */
async function openFirst(
  source: Source,
  part: Part,
): Promise<() => Iterable<PartPiece> | AsyncIterable<PartPiece>> {
  if (part.bytes > PIECE_BYTES) {
    const verified = await verifyPart(source, part);
    return () => readPieces(source, part, verified);
  }
  const bytes = await inTurn(source, () => readWhole(source, part));
  return () => cut(part, bytes);
}

async function* readPieces(
  source: Source,
  part: Part,
  verified: VerifiedPart | null,
): AsyncGenerator<PartPiece> {
  if (wholeBytes + part.bytes <= WHOLE_BYTES_MAX) {
    wholeBytes += part.bytes;
    try {
      yield* cut(part, await inTurn(source, () => readWhole(source, part)));
    } finally {
      wholeBytes -= part.bytes;
    }
    return;
  }
  const { objectKey, bytes, sums } = verified ?? (await verifyPart(source, part));
  for (const [place, sum] of sums.entries()) {
    const from = place * PIECE_BYTES;
    const range = { from, to: Math.min(bytes, from + PIECE_BYTES) };
    const { store } = source.context;
    const piece = await inTurn(source, () => readRange(store, objectKey, range, sum));
    yield { firstRow: part.firstRow, bytes: piece, isLast: range.to === bytes };
  }
}

/**
 * Reads when it is the turn of the download. A request to a bucket takes a millisecond of CPU, and its response comes tens of
 * milliseconds later: a few at a time would be slow, and hundreds in one round of the event loop would keep all other requests
 * waiting.
 */
async function inTurn(
  { context: { store, signal = new AbortController().signal }, accountId }: Source,
  read: () => Promise<Buffer>,
): Promise<Buffer> {
  // Only a bucket has addresses of its own.
  if (store.presigned === null) {
    return readFileInTurn(accountId, signal, async () => {
      await nextQuietRound();
      return read();
    });
  }
  await takeThreadTurn({ accountId, signal });
  return read();
}

function readWhole(source: Source, part: Part): Promise<Buffer> {
  const { store } = source.context;
  return readKept(source, part, (now) => readObject(store, now.objectKey, now));
}

function verifyPart(source: Source, part: Part): Promise<VerifiedPart> {
  return readKept(source, part, async (now) => ({ ...now, sums: await sumsOf(source, now) }));
}

/** Reads a part. One that the caller has deleted meanwhile is not lost. */
async function readKept<Found>(
  { context, readAt }: Source,
  part: Part,
  read: (part: Part) => Promise<Found>,
): Promise<Found> {
  try {
    return await readAt(context, part, read);
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    const { batchId } = part;
    assertFilesKept(must(await findBatch(context.sql, batchId), `batch ${batchId}`));
    throw error;
  }
}

async function sumsOf({ context, accountId }: Source, part: Part): Promise<number[]> {
  const { store, signal } = context;
  signal?.throwIfAborted();
  const ofStore = beingVerified.get(store) ?? new Map<string, Verification>();
  beingVerified.set(store, ofStore);
  const one = ofStore.get(part.objectKey) ?? verify(store, accountId, part);
  ofStore.set(part.objectKey, one);
  one.waiting += 1;
  const forget = () => {
    if (ofStore.get(part.objectKey) === one) ofStore.delete(part.objectKey);
  };
  const leave = () => {
    one.waiting -= 1;
    if (one.waiting > 0) return;
    forget();
    one.end.abort(signal?.reason);
  };
  signal?.addEventListener('abort', leave, { once: true });
  try {
    return await one.sums;
  } finally {
    signal?.removeEventListener('abort', leave);
    forget();
  }
}

function verify(store: ObjectStore, accountId: string, part: Part): Verification {
  const end = new AbortController();
  const user = { accountId, signal: end.signal };
  const options = { pieceBytes: PIECE_BYTES, turn: () => takeThreadTurn(user) };
  const sums = verifying(accountId, end.signal, () =>
    readPieceSums(store, part.objectKey, part, options),
  );
  return { sums, waiting: 0, end };
}

/** Copies, so that a piece that waits for its client does not keep the whole part in memory. */
function* cut({ firstRow }: Part, bytes: Buffer): Generator<PartPiece> {
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    const to = from + PIECE_BYTES;
    yield { firstRow, bytes: Buffer.from(bytes.subarray(from, to)), isLast: to >= bytes.length };
  }
}
