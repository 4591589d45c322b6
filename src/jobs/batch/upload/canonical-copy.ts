/**
 * The bytes that workers read: UTF-8, unzipped, no byte order mark. An upload that is already UTF-8 is
 * read where it lies, its mark skipped; any other encoding is written once more as UTF-8.
 */
import { Readable } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import type { ObjectStore } from '../../../core/storage/object-store.ts';
import { Transcoder } from '../csv/encoding.ts';
import type { ListBatch } from '../queries.ts';

export interface CanonicalObject {
  key: string;
  /** Where the first data record begins, and where the object ends. */
  firstByte: number;
  bytes: number;
}

/** Finds or writes the canonical object of an upload. A second run writes another object. */
export async function canonicalObject(
  store: ObjectStore,
  batch: ListBatch,
): Promise<CanonicalObject> {
  const { dialect, uploadKey, uploadBytes } = batch;
  if (dialect.encoding === 'utf-8') {
    return { key: uploadKey, firstByte: dialect.bom + dialect.firstByte, bytes: uploadBytes };
  }
  const key = `batches/${batch.id}/canonical-${uuidv7()}`;
  const upload = store.getStream(uploadKey, { from: dialect.bom, to: uploadBytes });
  const bytes = await store.putStream(key, Readable.from(transcode(upload, dialect)));
  return { key, firstByte: dialect.firstByte, bytes };
}

async function* transcode(
  upload: Readable,
  dialect: { encoding: string; encodingIsGuess: boolean },
): AsyncGenerator<Buffer> {
  const transcoder = new Transcoder({
    encoding: dialect.encoding,
    isGuess: dialect.encodingIsGuess,
  });
  for await (const bytes of upload) yield transcoder.push(bytes as Buffer);
  yield transcoder.finish();
}
