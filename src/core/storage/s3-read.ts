/** Reads an S3 object as a stream that survives broken connections and idle readers. */
import { Readable } from 'node:stream';
import { GetObjectCommand, type GetObjectCommandOutput, type S3Client } from '@aws-sdk/client-s3';
import { must } from '../lib/assert.ts';
import type { ByteRange } from './object-store.ts';
import { assertConfirmed, isStatus } from './s3-errors.ts';

/** Consecutive connections without a byte before the error is passed on. */
const FRUITLESS_MAX = 3;

/** Slower reads are given up: others wait for their places in a worker. That of a part's upload is the same. */
const BYTES_PER_SECOND_MIN = 45_000;

/** Address of an object on the server. */
export interface ObjectAddress {
  Bucket: string;
  Key: string;
}

/**
 * Streams an object or a range of it. Nothing is fetched ahead of the reader beyond the socket's own buffers. A
 * connection that breaks, or is cut because the reader paused, is reopened at the next byte, for the same version
 * of the object: when it was replaced meanwhile, the stream ends in an error, as it does when the server is silent or too
 * slow (`whileFast`). `explain` turns errors of the client into the error of the stream.
 */
export function readS3Object(
  client: S3Client,
  address: ObjectAddress,
  range: ByteRange | undefined,
  { idleMs, explain }: { idleMs: number; explain: (error: unknown) => Error },
): Readable {
  const abort = new AbortController();
  const blocks = whileFast(readBlocks(client, address, range, abort.signal), abort, idleMs);
  return new Readable({
    highWaterMark: 64 * 1024,
    read() {
      blocks.next().then(
        ({ value, done }) => this.push(done ? null : value),
        (error: unknown) => this.destroy(explain(error)),
      );
    },
    destroy(error, done) {
      // Ends a wait for bytes at once; the generator then returns.
      abort.abort();
      blocks.return(undefined).catch(() => {});
      done(error);
    },
  });
}

/**
 * Reads a range into memory, as much of it as exists. Throws the client's errors, also when the server is silent or too slow
 * (`whileFast`).
 */
export async function readS3Range(
  client: S3Client,
  address: ObjectAddress,
  range: ByteRange,
  idleMs: number,
): Promise<Buffer> {
  const abort = new AbortController();
  const read = readBlocks(client, address, range, abort.signal);
  const blocks: Buffer[] = [];
  for await (const block of whileFast(read, abort, idleMs)) blocks.push(block);
  return Buffer.concat(blocks);
}

/**
 * Passes blocks on, and aborts their read when it has waited `idleMs` longer for them than their bytes take at the minimum
 * speed. Bytes that came faster save no time up, and the pauses of the reader do not count.
 */
async function* whileFast(
  blocks: AsyncGenerator<Buffer, undefined>,
  abort: AbortController,
  idleMs: number,
): AsyncGenerator<Buffer, undefined> {
  let msLeft = idleMs;
  try {
    while (true) {
      const from = performance.now();
      const timer = setTimeout(() => abort.abort(), msLeft);
      const { value, done } = await blocks.next().finally(() => clearTimeout(timer));
      if (done) return undefined;
      const waitedMs = performance.now() - from;
      msLeft = Math.min(idleMs, msLeft - waitedMs + (value.length / BYTES_PER_SECOND_MIN) * 1_000);
      yield value;
    }
  } finally {
    await blocks.return(undefined);
  }
}

async function* readBlocks(
  client: S3Client,
  address: ObjectAddress,
  range: ByteRange | undefined,
  signal: AbortSignal,
): AsyncGenerator<Buffer, undefined> {
  let at = range?.from ?? 0;
  let end = range?.to;
  let version: string | undefined;
  let fruitless = 0;
  while (true) {
    const answer = await open(client, address, rangeHeader(at, end), version, signal);
    if (answer === null) return undefined;
    version = answer.ETag;
    // A range may reach beyond the object: the announced length is what exists.
    end = at + must(answer.ContentLength, 'length of an object');
    let broken: unknown = new Error('the object ended before its length');
    try {
      for await (const block of answer.Body as Readable) {
        fruitless = 0;
        at += (block as Buffer).length;
        yield block as Buffer;
      }
    } catch (error) {
      broken = error;
    }
    if (at === end) return undefined;
    fruitless++;
    if (signal.aborted || fruitless === FRUITLESS_MAX) throw broken;
  }
}

/** Returns the response to a GET; null when the range begins at or after the object's end. */
async function open(
  client: S3Client,
  address: ObjectAddress,
  range: string | undefined,
  version: string | undefined,
  abortSignal: AbortSignal,
): Promise<GetObjectCommandOutput | null> {
  try {
    const command = new GetObjectCommand({ ...address, Range: range, IfMatch: version });
    const answer = await client.send(command, { abortSignal });
    if (!answer.ETag) (answer.Body as Readable).destroy();
    assertConfirmed(answer.ETag);
    return answer;
  } catch (error) {
    if (isStatus(error, 416)) return null;
    throw error;
  }
}

/** RFC 9110 section 14.1.2; the last byte is inclusive. Undefined for a whole object. */
function rangeHeader(from: number, to: number | undefined): string | undefined {
  if (to !== undefined) return `bytes=${from}-${to - 1}`;
  return from === 0 ? undefined : `bytes=${from}-`;
}
