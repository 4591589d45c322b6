/** Object storage by key: uploads and parts of results. All drivers share one test suite. */
import type { Readable } from 'node:stream';
import { type AppError, unavailable } from '../lib/errors.ts';

/** A half-open range of bytes. */
export interface ByteRange {
  from: number;
  to: number;
}

/** Length and checksum of an object when it was written. */
export interface ObjectSum {
  bytes: number;
  crc32: number;
}

/** The sum of a stream, with the checksum of its first 65,536 bytes. */
export interface StreamSum extends ObjectSum {
  headCrc32: number;
}

export interface ObjectStore {
  /**
   * Stores a stream under a key, all or nothing: a reader sees the whole object or none. Returns the sum of the
   * stream. Rejects, leaving nothing, when the stream fails.
   */
  putStream(key: string, source: Readable): Promise<StreamSum>;
  /**
   * Stores these bytes under a key, all or nothing; once it resolves they survive a power failure. Returns their
   * sum.
   */
  put(key: string, bytes: Uint8Array[]): Promise<ObjectSum>;
  /**
   * Reads a range into memory, as much of it as exists, unchecked: `object-sum.ts` compares what is read with what
   * was written. Throws `AppError` `object_missing`.
   */
  get(key: string, range: ByteRange): Promise<Buffer>;
  /**
   * Streams an object, or a non-empty range of it. Errors surface on the stream, a missing object as `AppError`
   * `object_missing`. Unread data stays in the store, not in memory.
   */
  getStream(key: string, range?: ByteRange): Readable;
  /** Returns the size of an object in bytes; null when it does not exist. */
  head(key: string): Promise<number | null>;
  /** Deletes an object; does nothing for a missing one. */
  delete(key: string): Promise<void>;
  /**
   * Deletes every object whose key starts with the prefix, which ends in `/`; one that is written meanwhile may stay. Rejects
   * when some cannot be deleted, after it has deleted the others.
   */
  deletePrefix(prefix: string): Promise<void>;
  /**
   * Lists the keys of all objects, or of those with a prefix, which ends in `/`, in no order; a key that is added or deleted
   * meanwhile may or may not be among them. What cannot be read fails it after its last key.
   */
  list(prefix?: string): AsyncIterable<string>;
  /** Addresses at which a caller reaches one object directly; null for stores that have none. */
  presigned: PresignedAddresses | null;
}

/** Any holder of such an address may use it until it expires, at most seven days from now. */
export interface PresignedAddresses {
  /** For one PUT of any size. With `contentType` the request must carry that header. */
  presignPut(
    key: string,
    options: { contentType?: string; expiresSeconds: number },
  ): Promise<string>;
  /** For GET; a browser saves it as `fileName`, which is plain ASCII. */
  presignGet(key: string, options: { fileName: string; expiresSeconds: number }): Promise<string>;
}

/** 503 and not the caller's fault: the code that recorded the key expects the object to exist. */
export function objectMissing(key: string, cause: unknown): AppError {
  return unavailable('object_missing', `The stored object ${key} is missing.`, {
    extensions: { object: key },
    cause,
  });
}
