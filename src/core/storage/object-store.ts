/** Files by key, as the pipeline needs them: uploads and parts of results. Drivers share one suite. */
import type { Readable } from 'node:stream';

/** A half-open range of bytes. */
export interface ByteRange {
  from: number;
  to: number;
}

export interface ObjectStore {
  /**
   * Stores a stream under a key, all or nothing: a reader sees the whole object or none. Returns its
   * size in bytes. Rejects, leaving nothing behind, when the stream fails.
   */
  putStream(key: string, source: Readable): Promise<number>;
  /** Stores these bytes under a key, all or nothing; when it resolves they survive a power cut. */
  put(key: string, bytes: Uint8Array[]): Promise<void>;
  /** Reads a range into memory. Throws `AppError` `object_missing`. */
  get(key: string, range: ByteRange): Promise<Buffer>;
  /** Streams an object, or a range of it. Errors surface on the stream. */
  getStream(key: string, range?: ByteRange): Readable;
  /** Removes an object; one that is not there is fine. */
  delete(key: string): Promise<void>;
  /** Removes every object whose key starts with the prefix, which ends in `/`. */
  deletePrefix(prefix: string): Promise<void>;
}
