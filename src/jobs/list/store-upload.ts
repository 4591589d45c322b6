/** Streams an upload to storage as it is, before anything of it is read. */
import type { Readable } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import type { Context } from '../../core/context.ts';
import type { MobileSetting } from '../../core/enrich/mobile-in-records.ts';
import type { StreamSum } from '../../core/storage/object-store.ts';
import { readHead } from '../../core/storage/object-sum.ts';
import type { StorageBounds } from '../batch/stored-bytes.ts';
import type { Queues } from '../queue/queues.ts';
import { receiveUpload } from './receive-upload.ts';

export interface UploadContext extends Pick<Context, 'sql' | 'testSql' | 'store' | 'log'> {
  queues: Queues;
  config: StorageBounds & MobileSetting & { openListsMax: number };
  /** The account of the upload. */
  accountId: string;
  /** Aborts when the client no longer waits for the response. */
  signal: AbortSignal;
}

/** A stored upload that is not yet a batch. */
export interface StoredUpload {
  batchId: string;
  key: string;
  sum: StreamSum;
  /** Its first bytes, as `readHead` gives them. */
  head: Buffer;
  /** Hash of the received bytes. */
  sha256: Buffer;
}

/**
 * Streams an upload to storage without buffering it, unzipping gzip. Throws as `receiveUpload` does. Nothing stays in
 * storage then, nor when the client disconnects or `cut` aborts it.
 */
export async function storeUpload(
  { store, config }: Pick<UploadContext, 'store' | 'config'>,
  source: Readable,
  cut?: AbortSignal,
): Promise<StoredUpload> {
  const batchId = uuidv7();
  const key = `batches/${batchId}/upload`;
  const received = receiveUpload(source, config.uploadBytesMax, cut);
  const sum = await store.putStream(key, received);
  try {
    const head = await readHead(store, key, sum);
    return { batchId, key, sum, head, sha256: received.sha256() };
  } catch (error) {
    await store.delete(key);
    throw error;
  }
}
