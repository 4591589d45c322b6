/** The stream of an upload on its way to storage: limited in bytes, unzipped when it is gzip. */

import { createHash } from 'node:crypto';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { AppError } from '../../core/lib/errors.ts';

/** A gzip that grows more than this is no list (a million rows of CSV shrink to a tenth at most). */
const RATIO_MAX = 100;
/** Below this size the ratio says nothing. */
const RATIO_FROM_BYTES = 1024 * 1024;

export type ReceivedUpload = Readable & {
  /** Of all the bytes given; call it after the end. */
  sha256(): Buffer;
};

/**
 * The upload's own bytes, unzipped when they begin as gzip does. Ends in `AppError` 413
 * `file_too_large` at the byte that is too many, 422 `unreadable_csv` for a gzip that is broken or that
 * grows too much, 400 when the client hangs up, and with the reason of `cut` once that is aborted.
 */
export function receiveUpload(
  source: Readable,
  bytesMax: number,
  cut?: AbortSignal,
): ReceivedUpload {
  const unzip = new UnzipIfGzip(bytesMax);
  if (cut !== undefined) {
    const end = () => unzip.destroy(cut.reason);
    cut.addEventListener('abort', end);
    unzip.on('close', () => cut.removeEventListener('abort', end));
    if (cut.aborted) end();
  }
  // The client may hang up before anybody reads, or before this: who reads later still meets the error.
  unzip.on('error', () => {});
  if (source.destroyed && !source.readableEnded) unzip.destroy(endedEarly());
  source.on('error', (error) => unzip.destroy(isHangUp(error) ? endedEarly(error) : error));
  source.on('close', () => {
    if (!source.readableEnded) unzip.destroy(endedEarly());
  });
  return source.pipe(unzip);
}

class UnzipIfGzip extends Transform {
  readonly #bytesMax: number;
  #gunzip: ReturnType<typeof createGunzip> | null = null;
  #head: Buffer | null = Buffer.alloc(0);
  #bytesIn = 0;
  #bytesOut = 0;
  readonly #hash = createHash('sha256');

  constructor(bytesMax: number) {
    super();
    this.#bytesMax = bytesMax;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#bytesIn += chunk.length;
    if (this.#head === null) {
      this.#pass(chunk, done);
      return;
    }
    this.#head = Buffer.concat([this.#head, chunk]);
    if (this.#head.length < 2) done();
    else this.#begin(done);
  }

  override _flush(done: TransformCallback): void {
    if (this.#head !== null) this.#begin(() => {});
    if (this.#gunzip === null) done();
    else this.#gunzip.once('end', () => done()).end();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#gunzip?.destroy();
    done(error);
  }

  /** The first two bytes are here (or there are no more): gzip or not. */
  #begin(done: TransformCallback): void {
    const head = this.#head ?? Buffer.alloc(0);
    this.#head = null;
    if (head[0] === 0x1f && head[1] === 0x8b) {
      this.#gunzip = createGunzip();
      this.#gunzip.on('data', (bytes: Buffer) => this.#give(bytes));
      this.#gunzip.on('error', (cause) => this.destroy(brokenGzip(cause)));
    }
    this.#pass(head, done);
  }

  #pass(bytes: Buffer, done: TransformCallback): void {
    if (this.#gunzip !== null) {
      this.#gunzip.write(bytes, () => done());
    } else {
      this.#give(bytes);
      done();
    }
  }

  #give(bytes: Buffer): void {
    this.#bytesOut += bytes.length;
    if (this.#bytesOut > this.#bytesMax) this.destroy(fileTooLarge(this.#bytesMax));
    else if (this.#bytesOut > RATIO_FROM_BYTES && this.#bytesOut > this.#bytesIn * RATIO_MAX) {
      this.destroy(growsTooMuch());
    } else {
      this.#hash.update(bytes);
      this.push(bytes);
    }
  }

  sha256(): Buffer {
    return this.#hash.digest();
  }
}

/** What Node calls a request whose client went away. */
function isHangUp(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'ECONNRESET';
}

function endedEarly(cause?: Error): AppError {
  return new AppError({
    code: 'invalid_request',
    status: 400,
    message: 'The upload ended early. Send it again.',
    cause,
  });
}

/** For an upload of more bytes than the service takes. */
export function fileTooLarge(bytesMax: number): AppError {
  return new AppError({
    code: 'file_too_large',
    status: 413,
    message: `This file holds more than ${bytesMax} bytes. Split it into several files.`,
    extensions: { bytes_max: bytesMax },
  });
}

function growsTooMuch(): AppError {
  return new AppError({
    code: 'unreadable_csv',
    status: 422,
    message: `This gzip grows to more than ${RATIO_MAX} times its size. Send the file unzipped.`,
  });
}

function brokenGzip(cause: Error): AppError {
  return new AppError({
    code: 'unreadable_csv',
    status: 422,
    message: 'This gzip file is broken or cut off. Compress the list again, or send it unzipped.',
    cause,
  });
}
