/** Files by key, as the pipeline needs them: uploads and parts of results. Drivers share one suite. */
import type { Readable } from 'node:stream';
import { AppError } from '../lib/errors.ts';

/** A half-open range of bytes. */
export interface ByteRange {
  from: number;
  to: number;
}

/** What an object held when it was written. */
export interface ObjectSum {
  bytes: number;
  /** Null for an object of a version that recorded none: then the length alone is compared. */
  crc32: number | null;
}

/** What a stream held, with the checksum of its first 65,536 bytes. */
export interface StreamSum extends ObjectSum {
  crc32: number;
  headCrc32: number;
}

export interface ObjectStore {
  /**
   * Stores a stream under a key, all or nothing: a reader sees the whole object or none. Returns the sum
   * of what the stream gave. Rejects, leaving nothing behind, when the stream fails.
   */
  putStream(key: string, source: Readable): Promise<StreamSum>;
  /**
   * Stores these bytes under a key, all or nothing; when it resolves they survive a power cut. Returns the
   * sum of what it was given.
   */
  put(key: string, bytes: Uint8Array[]): Promise<ObjectSum>;
  /**
   * Reads a range into memory, as much of it as there is, unchecked: `object-sum.ts` compares what is read
   * with what was written. Throws `AppError` `object_missing`.
   */
  get(key: string, range: ByteRange): Promise<Buffer>;
  /**
   * Streams an object, or a range of it that is not empty. Errors surface on the stream, a missing
   * object as `AppError` `object_missing`. What nobody reads waits in the store, not in memory.
   */
  getStream(key: string, range?: ByteRange): Readable;
  /** The size of an object in bytes, or null when there is none. */
  head(key: string): Promise<number | null>;
  /** Removes an object; one that is not there is fine. */
  delete(key: string): Promise<void>;
  /** Removes every object whose key starts with the prefix, which ends in `/`. */
  deletePrefix(prefix: string): Promise<void>;
  /** Keys of all objects, in no order; a key that comes or goes meanwhile may be among them or not. */
  list(): AsyncIterable<string>;
  /** Addresses that let a caller reach one object without us; null where a store has none. */
  presigned: PresignedAddresses | null;
}

/** Whoever holds such an address may use it until it expires, at most seven days from now. */
export interface PresignedAddresses {
  /** For one PUT of any size. With `contentType` the request must carry that header. */
  presignPut(
    key: string,
    options: { contentType?: string; expiresSeconds: number },
  ): Promise<string>;
  /** For GET; a browser saves it as `fileName`, which is plain ASCII. */
  presignGet(key: string, options: { fileName: string; expiresSeconds: number }): Promise<string>;
}

/** 503 and no mistake of the caller: whoever recorded the key expects the object to be there. */
export function objectMissing(key: string, cause: unknown): AppError {
  return new AppError({
    code: 'object_missing',
    status: 503,
    message: `The stored object ${key} is not there.`,
    extensions: { object: key },
    cause,
  });
}
