/**
 * The canonical bytes that workers read: UTF-8, unzipped, no byte order mark. An upload that is already UTF-8
 * is read in place, its mark skipped; any other encoding is rewritten as UTF-8.
 */
import { Readable } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import type { ObjectStore, ObjectSum } from '../../core/storage/object-store.ts';
import { streamObject } from '../../core/storage/object-sum.ts';
import { Transcoder } from '../../formats/csv/encoding.ts';
import type { ListBatch } from '../batch/batch.ts';

export interface CanonicalObject {
  key: string;
  /** Byte offset of the first data record. */
  firstByte: number;
  sum: ObjectSum;
}

/**
 * Finds or writes the canonical object of an upload. A second run writes another object. Throws
 * `object_damaged` when it has to read the upload and its bytes are not those received.
 */
export async function canonicalObject(
  store: ObjectStore,
  batch: ListBatch,
): Promise<CanonicalObject> {
  const { dialect, uploadKey } = batch;
  const uploadSum = { bytes: batch.uploadBytes, crc32: batch.uploadCrc32 };
  if (dialect.encoding === 'utf-8') {
    return { key: uploadKey, firstByte: dialect.bom + dialect.firstByte, sum: uploadSum };
  }
  const key = `batches/${batch.id}/canonical-${uuidv7()}`;
  const upload = skipBytes(streamObject(store, uploadKey, uploadSum), dialect.bom);
  const sum = await store.putStream(key, Readable.from(transcode(upload, dialect)));
  return { key, firstByte: dialect.firstByte, sum };
}

/** The stream without its first `count` bytes. */
export async function* skipBytes(
  source: AsyncIterable<Buffer>,
  count: number,
): AsyncGenerator<Buffer> {
  let left = count;
  for await (const block of source) {
    if (left < block.length) yield left === 0 ? block : block.subarray(left);
    left = Math.max(0, left - block.length);
  }
}

async function* transcode(
  upload: AsyncIterable<Buffer>,
  dialect: { encoding: string; encodingIsGuess: boolean },
): AsyncGenerator<Buffer> {
  const transcoder = new Transcoder({
    encoding: dialect.encoding,
    isGuess: dialect.encodingIsGuess,
  });
  for await (const bytes of upload) yield transcoder.push(bytes);
  yield transcoder.finish();
}
