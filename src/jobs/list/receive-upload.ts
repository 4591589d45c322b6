/** The stream of an upload on its way to storage: limited in bytes, unzipped when it is gzip. */

import { createHash } from 'node:crypto';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { AppError, invalidRequest, unprocessable } from '../../core/lib/errors.ts';

/** A gzip that expands more than this is not a list (a million rows of CSV compress to a tenth at most). */
const RATIO_MAX = 100;
/** Below this size the ratio is not meaningful. */
const RATIO_FROM_BYTES = 1024 * 1024;

export type ReceivedUpload = Readable & {
  /** Hash of all bytes read; call after the end. */
  sha256(): Buffer;
};

/**
 * The upload's bytes, unzipped if they begin with a gzip header, unless `keepsGzip` is set. Ends with
 * `AppError` 413 `file_too_large` at the first excess byte, zipped or not, 422 `unreadable_csv` for a gzip that is
 * broken or expands too much, 400 when the client disconnects, and with the reason of `cut` once that
 * is aborted.
 */
export function receiveUpload(
  source: Readable,
  bytesMax: number,
  cut?: AbortSignal,
  { keepsGzip = false }: { keepsGzip?: boolean } = {},
): ReceivedUpload {
  const unzip = new UnzipIfGzip(bytesMax, keepsGzip);
  if (cut !== undefined) {
    const end = () => unzip.destroy(cut.reason);
    cut.addEventListener('abort', end);
    unzip.on('close', () => cut.removeEventListener('abort', end));
    if (cut.aborted) end();
  }
  // The client may disconnect before the stream is read, or before this line: a later read still gets the
  // error.
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
  /** Bytes of a gzip up to the last one that is not zero. */
  #bytesUnpadded = 0;
  #bytesOut = 0;
  readonly #hash = createHash('sha256');

  constructor(bytesMax: number, keepsGzip: boolean) {
    super();
    this.#bytesMax = bytesMax;
    if (keepsGzip) this.#head = null;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
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
    const gunzip = this.#gunzip;
    if (gunzip === null) {
      done();
      return;
    }
    // Zeros after the end, with which tapes and copies of blocks are filled up, are not read: it may have ended long ago.
    const end = () => {
      const isPadded = this.#bytesUnpadded <= gunzip.bytesWritten;
      done(isPadded ? null : brokenGzip(new Error('more bytes after the padding')));
    };
    if (gunzip.readableEnded) end();
    else gunzip.once('end', end).end();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#gunzip?.destroy();
    done(error);
  }

  /** Called with the first two bytes (or all, if fewer): decides whether it is gzip. */
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
    const before = this.#bytesIn;
    this.#bytesIn += bytes.length;
    if (this.#gunzip !== null) {
      // Padding and empty members have no output that would be counted.
      if (this.#bytesIn > this.#bytesMax) {
        this.destroy(fileTooLarge(this.#bytesMax));
        return;
      }
      const unpadded = bytes.findLastIndex((byte) => byte !== 0) + 1;
      if (unpadded > 0) this.#bytesUnpadded = before + unpadded;
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
      // A block of gzip may expand to 64 MiB, which would wait in memory for a slow store.
      if (!this.push(bytes)) this.#gunzip?.pause();
    }
  }

  override _read(size: number): void {
    this.#gunzip?.resume();
    super._read(size);
  }

  sha256(): Buffer {
    return this.#hash.digest();
  }
}

/**
 * True for Node's error of a request whose client disconnected. A connection of ours has one with a system call: the rows of a
 * rerun are read from database and storage while they are stored.
 */
function isHangUp(error: Error): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' && syscall === undefined;
}

function endedEarly(cause?: Error): AppError {
  return invalidRequest('The upload ended early. Send it again.', cause);
}

/** The error for an upload larger than the maximum. */
export function fileTooLarge(bytesMax: number): AppError {
  return new AppError({
    code: 'file_too_large',
    status: 413,
    message: `This file has more than ${bytesMax} bytes, the maximum. Split it into several files.`,
    extensions: { bytes_max: bytesMax },
  });
}

function growsTooMuch(): AppError {
  return unprocessable(
    'unreadable_csv',
    `This gzip file expands to more than ${RATIO_MAX} times its size. Send it unzipped.`,
  );
}

function brokenGzip(cause: Error): AppError {
  return unprocessable(
    'unreadable_csv',
    'This gzip file is corrupt or truncated. Compress the list again, or send it unzipped.',
    { cause },
  );
}
