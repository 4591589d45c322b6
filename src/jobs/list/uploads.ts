/**
 * Uploads past the API: the caller gets an address of the object storage, puts the file there, and makes
 * a batch of it. What was put is not trusted: it is streamed through the same checks as any other upload,
 * into an object that no address reaches.
 */
import { Readable } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import type { Owner } from '../../core/accounts/owner.ts';
import type { Context } from '../../core/context.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { AppError } from '../../core/lib/errors.ts';
import { streamObject } from '../../core/storage/object-sum.ts';
import { assertRecordedFits, type StorageBounds } from '../batch/stored-bytes.ts';
import { fileTooLarge } from './receive-upload.ts';
import {
  deleteUploads,
  findOwnUpload,
  insertUpload,
  listExpiredUploads,
  markUploadUsed,
} from './uploads.sql.ts';

/**
 * For beginning the PUT, however long it then takes. Far less than an upload is kept, so that nothing is
 * written any more when it is deleted.
 */
const ADDRESS_SECONDS = 60 * 60;

export interface NewUpload {
  id: string;
  /** For one PUT of the file, any content type. */
  url: string;
  urlExpiresAt: Date;
  /** Until when a batch can be made of it. */
  expiresAt: Date;
}

/**
 * Opens an upload. Until it is used or expires, it counts as the largest upload among what the account stores.
 * Throws `AppError` 409: `invalid_state` where the files lie on the service's own disk, `storage_full`.
 */
export async function createUpload(
  { sql, store, config }: Pick<Context, 'sql' | 'store'> & { config: StorageBounds },
  owner: Owner,
): Promise<NewUpload> {
  if (store.presigned === null) {
    throw invalidState(
      'This service keeps its files on its own disk: upload the file with POST /v1/batches.',
    );
  }
  const id = uuidv7();
  const key = `uploads/${id}`;
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
 * Opens the file of an upload. Throws `AppError`: 404 `not_found` for one that has expired or is anybody
 * else's, 409 `invalid_state` when it was used or nothing was put yet, 413 `file_too_large`.
 */
export async function openUpload(
  { sql, store }: Pick<Context, 'sql' | 'store'>,
  owner: Owner,
  id: string,
  bytesMax: number,
): Promise<{ key: string; source: Readable }> {
  const upload = await findOwnUpload(sql, owner, id);
  if (upload === undefined) {
    throw new AppError({
      code: 'not_found',
      status: 404,
      message: `There is no upload ${id}. An upload is kept for a day.`,
    });
  }
  if (upload.usedAt !== null) throw alreadyUsed(id);
  const bytes = await store.head(upload.key);
  if (bytes === null) {
    throw invalidState(
      `Nothing was uploaded as ${id} yet: PUT the file to the upload's url first.`,
    );
  }
  if (bytes > bytesMax) {
    await store.delete(upload.key);
    throw fileTooLarge(bytesMax);
  }
  // What was put has no checksum of ours; its length is known.
  const blocks = streamObject(store, upload.key, { bytes, crc32: null });
  return { key: upload.key, source: Readable.from(blocks, { objectMode: false }) };
}

/**
 * Uses an upload up, in the transaction that records its batch: a request that fails leaves it for
 * another try. Throws `AppError` 409 `invalid_state` when another batch was first.
 */
export async function useUpload(tx: Sql, id: string): Promise<void> {
  if (!(await markUploadUsed(tx, id))) throw alreadyUsed(id);
}

/** Deletes uploads that have expired. The objects go first: a crash in between deletes them again. */
export async function deleteExpiredUploads({
  sql,
  store,
}: Pick<Context, 'sql' | 'store'>): Promise<void> {
  const expired = await listExpiredUploads(sql);
  for (const { key } of expired) await store.delete(key);
  if (expired.length > 0) {
    await deleteUploads(
      sql,
      expired.map(({ id }) => id),
    );
  }
}

function alreadyUsed(id: string): AppError {
  return invalidState(`Upload ${id} is a batch already. Upload the file again for another one.`);
}

function invalidState(message: string): AppError {
  return new AppError({ code: 'invalid_state', status: 409, message });
}
