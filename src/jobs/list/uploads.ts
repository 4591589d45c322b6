/**
 * Direct uploads: the caller gets a URL of the object store, PUTs the file there, and creates a batch from
 * it. The file is not trusted: it is streamed through the same checks as any upload, into an object without a
 * public URL.
 */

import { Readable } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import type { Owner } from '../../core/accounts/owner.ts';
import type { Context } from '../../core/context.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { readClock } from '../../core/db/clock.ts';
import { type AppError, conflict, notFound } from '../../core/lib/errors.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { isObjectMissing } from '../../core/storage/object-sum.ts';
import { triedToDelete } from '../batch/delete-stored.ts';
import { isOwnStore } from '../batch/own-store.ts';
import { assertRecordedFits, type StorageBounds } from '../batch/stored-bytes.ts';
import { fileTooLarge } from './receive-upload.ts';
import {
  deleteUploadsExpiredAt,
  findOwnUpload,
  findUploads,
  insertUpload,
  markUploadUsed,
} from './uploads.sql.ts';

/**
 * Time to begin the PUT, however long it then takes. Much shorter than an upload is kept, so that nothing is
 * written after its deletion.
 */
const ADDRESS_SECONDS = 60 * 60;

/** The keys of all uploads begin with it. */
const UPLOADS = 'uploads/';
/** Keys that are looked up together. */
const BLOCK = 1000;

export interface NewUpload {
  id: string;
  /** For one PUT of the file, any content type. */
  url: string;
  urlExpiresAt: Date;
  /** When the upload expires and can no longer become a batch. */
  expiresAt: Date;
}

/**
 * Opens an upload. Until used or expired, it counts towards the account's storage with the maximum upload size.
 * Throws `AppError` 409: `invalid_state` when the service keeps files on its own disk, `storage_full`.
 */
export async function createUpload(
  { sql, store, config }: Pick<Context, 'sql' | 'store'> & { config: StorageBounds },
  owner: Owner,
): Promise<NewUpload> {
  if (store.presigned === null) {
    throw conflict(
      'invalid_state',
      'This service keeps its files on its own disk: upload the file with POST /v1/batches.',
    );
  }
  const id = uuidv7();
  const key = `${UPLOADS}${id}`;
  const urlExpiresAt = new Date(Date.now() + ADDRESS_SECONDS * 1000);
  const url = await store.presigned.presignPut(key, { expiresSeconds: ADDRESS_SECONDS });
  const expiresAt = await inTransaction(sql, async (tx) => {
    const recorded = await insertUpload(tx, { ...owner, id, key });
    await assertRecordedFits(tx, owner.accountId, config);
    return recorded;
  });
  return { id, url, urlExpiresAt, expiresAt };
}

/**
 * Opens the file of an upload. Throws `AppError`: 404 `not_found` when it has expired or belongs to another
 * owner, 409 `invalid_state` when it was used or has no file yet, 413 `file_too_large`. The file ends in 409 `invalid_state`
 * when it is replaced or deleted while it is read.
 */
export async function openUpload(
  { sql, store }: Pick<Context, 'sql' | 'store'>,
  owner: Owner,
  id: string,
  bytesMax: number,
): Promise<{ key: string; source: Readable }> {
  const upload = await findOwnUpload(sql, owner, id);
  if (upload === undefined) {
    throw notFound(`Upload ${id}`, 'Uploads are kept for a day.');
  }
  if (upload.usedAt !== null) throw alreadyUsed(id);
  const bytes = await store.head(upload.key);
  if (bytes === null) {
    throw conflict(
      'invalid_state',
      `Upload ${id} has no file yet. PUT the file to the upload's url first.`,
    );
  }
  if (bytes > bytesMax) {
    await store.delete(upload.key);
    throw fileTooLarge(bytesMax);
  }
  const blocks = streamFile(store, { ...upload, id, bytes });
  return { key: upload.key, source: Readable.from(blocks, { objectMode: false }) };
}

/**
 * Streams the file of an upload. It has no checksum of ours, only its length. Another length is no damage: until its address
 * expires the caller may put another file at any time.
 */
async function* streamFile(
  store: ObjectStore,
  { id, key, bytes }: { id: string; key: string; bytes: number },
): AsyncGenerator<Buffer, void, undefined> {
  let found = 0;
  try {
    for await (const block of store.getStream(key)) {
      found += block.length;
      yield block;
    }
  } catch (error) {
    // A request at the same time has made a batch of it.
    if (isObjectMissing(error)) throw changedMeanwhile(id);
    throw error;
  }
  if (found !== bytes) throw changedMeanwhile(id);
}

/**
 * Marks an upload as used, in the transaction that records its batch, so a failed request can be retried.
 * Throws `AppError` 409 `invalid_state` when another batch was first.
 */
export async function useUpload(tx: Sql, id: string): Promise<void> {
  if (!(await markUploadUsed(tx, id))) throw alreadyUsed(id);
}

/**
 * Deletes objects of which no list can be made: of expired uploads, those that are too large, and those that were put again at
 * the URL of a used upload, or arrived so slowly that the upload had expired meanwhile. No PUT can be limited in advance, and
 * they count towards no account's storage. Objects are listed, because of nearly all uploads none is left. They are deleted
 * before the rows of expired uploads: after a crash in between nothing is forgotten. `mustStop` ends it early.
 */
export async function deleteUselessUploads(
  context: Pick<Context, 'sql' | 'store' | 'log'> & { config: StorageBounds },
  mustStop: () => boolean,
): Promise<void> {
  const { sql, store, config } = context;
  const passed: string[] = [];
  const startedAt = await readClock(sql);
  const isOwn = await isOwnStore(context);
  const deleteUseless = async (keys: string[]) => {
    for (const { key, isKnown, isOver } of await findUploads(sql, keys)) {
      if (mustStop()) return;
      // In the store of another installation all are unknown.
      if (!isKnown && !isOwn) continue;
      const tried = await triedToDelete(context, key, async () => {
        const isUseless = isOver || ((await store.head(key)) ?? 0) > config.uploadBytesMax;
        if (isUseless) await store.delete(key);
      });
      if (!tried) passed.push(key);
    }
  };
  let keys: string[] = [];
  for await (const key of store.list(UPLOADS)) {
    keys.push(key);
    if (keys.length < BLOCK) continue;
    await deleteUseless(keys);
    keys = [];
  }
  await deleteUseless(keys);
  if (!mustStop()) await deleteUploadsExpiredAt(sql, startedAt, passed);
}

function alreadyUsed(id: string): AppError {
  return conflict(
    'invalid_state',
    `Upload ${id} was already used for a batch. Upload the file again for another batch.`,
  );
}

function changedMeanwhile(id: string): AppError {
  return conflict(
    'invalid_state',
    `The file of upload ${id} changed while it was read. Send the request again once the file is complete.`,
  );
}
