/**
 * Accepts an upload: streams it to storage, inspects its first bytes, and records the batch. A file that is
 * invalid as a whole is refused here, before anything is accepted, and leaves nothing behind.
 */
import { Readable } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import type { Owner } from '../../core/accounts/owner.ts';
import type { Context } from '../../core/context.ts';
import type { Sql } from '../../core/db/client.ts';
import { outputColumns } from '../../core/enrich/answer.ts';
import { must } from '../../core/lib/assert.ts';
import { AppError } from '../../core/lib/errors.ts';
import { openShare } from '../../core/limits/shares.ts';
import { type OperationName, operations } from '../../core/operations.ts';
import type { StreamSum } from '../../core/storage/object-store.ts';
import { readHead, verifyObject } from '../../core/storage/object-sum.ts';
import { type Dialect, type DialectOptions, detectDialect } from '../../formats/csv/dialect.ts';
import { isXlsx, storedXlsx, xlsxToCsv } from '../../formats/xlsx/read-xlsx.ts';
import type { ListBatch, StoredDialect } from '../batch/batch.ts';
import { findBatch, findOwnBatch } from '../batch/batches.sql.ts';
import { insertBatch, type NewList } from '../batch/insert-batch.sql.ts';
import { assertRecordedFits, type StorageBounds } from '../batch/stored-bytes.ts';
import { mapColumns, type RequestedMapping } from '../mapping/columns.ts';
import type { Queues } from '../queue/queues.ts';
import { receiveUpload } from './receive-upload.ts';

export interface BatchRequest {
  operation: OperationName;
  name: string;
  mapping: RequestedMapping | null;
  fields: string[] | null;
  /** ISO 3166 alpha-2 codes. */
  defaultRegion: string | null;
  country: string | null;
  maxCredits: number | null;
  hold: boolean;
  dedupe: boolean;
  requireAgreement: boolean;
  /** The batch whose rows this one runs again. */
  rerunOf: string | null;
}

/** The columns of results: a list may be the result of an earlier one. */
const columnNames: ReadonlySet<string> = new Set(
  (Object.keys(operations) as OperationName[]).flatMap((operation) =>
    outputColumns(operation, null).map(({ header }) => header),
  ),
);

/** The file's dialect as given by the caller; omitted options are detected. */
export type DialectRequest = Omit<DialectOptions, 'isWhole' | 'columnNames'>;

export interface UploadContext extends Pick<Context, 'sql' | 'testSql' | 'store' | 'log'> {
  queues: Queues;
  config: StorageBounds & { openListsMax: number };
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
  /** True for a workbook, stored as the CSV of its first sheet. */
  wasXlsx: boolean;
}

/**
 * Streams an upload to storage without buffering it, unzipping gzip; a workbook becomes the CSV of its first
 * sheet when its turn comes. Throws as `receiveUpload`, `xlsxToCsv` and the share of conversions do. Nothing
 * stays in storage then, nor when the client disconnects or `cut` aborts it.
 */
export async function storeUpload(
  context: UploadContext,
  source: Readable,
  cut?: AbortSignal,
): Promise<StoredUpload> {
  const batchId = uuidv7();
  const key = `batches/${batchId}/upload`;
  const received = receiveUpload(source, context.config.uploadBytesMax, cut);
  const sum = await context.store.putStream(key, received);
  let head: Buffer;
  try {
    head = await readHead(context.store, key, sum);
  } catch (error) {
    await context.store.delete(key);
    throw error;
  }
  const upload = { batchId, key, sum, head, sha256: received.sha256(), wasXlsx: false };
  return isXlsx(head) ? convertXlsx(context, upload) : upload;
}

/**
 * A conversion keeps one core busy and holds its texts in memory: a process does one at a time. The longest
 * conversion is shorter than the wait of the next account, and both together are shorter than the timeout of a
 * silent connection.
 */
const convertInTurn = openShare({
  name: 'workbooks',
  inFlightMax: 1,
  accountInFlightMax: 1,
  accountWaitingMax: 7,
  waitMsMax: 30_000,
});

/** Replaces a stored workbook with the CSV of its first sheet. Leaves nothing in storage when it throws. */
async function convertXlsx(
  { store, config, accountId, signal }: UploadContext,
  upload: StoredUpload,
): Promise<StoredUpload> {
  const key = `${upload.key}-sheet`;
  try {
    await verifyObject(store, upload.key, upload.sum);
    const workbook = storedXlsx(store, { key: upload.key, bytes: upload.sum.bytes });
    const sum = await convertInTurn(accountId, signal, () => {
      const csv = xlsxToCsv(workbook, { csvBytesMax: config.uploadBytesMax }, signal);
      return store.putStream(key, Readable.from(csv, { signal }));
    });
    const head = await readHead(store, key, sum);
    return { ...upload, key, sum, head, wasXlsx: true };
  } catch (error) {
    await store.delete(key);
    // A client that disconnects is not a failure of the service.
    signal.throwIfAborted();
    throw error;
  } finally {
    await store.delete(upload.key);
  }
}

/** A stored upload with the request for it. */
export interface RequestedList {
  upload: StoredUpload;
  request: BatchRequest;
  dialect: DialectRequest;
}

/**
 * Turns a stored upload into a batch. `commit` calls `insert` once in a transaction and resolves when that is
 * committed; its result is returned. Call `wakeSplit` with the batch's id afterwards. Throws `AppError`: 415 for a
 * file of another type, 422 `unreadable_csv` with the line, 422 `unmapped`, 400 for a request that does not fit the
 * file, 409 `storage_full` when the account has no room for it, 429 when the account has its maximum of open lists.
 * The upload is then deleted.
 */
export async function createBatch<Committed>(
  context: UploadContext,
  owner: Owner & { keyId: string },
  { upload, request, dialect: dialectRequest }: RequestedList,
  commit: (insert: (tx: Sql) => Promise<ListBatch>) => Promise<Committed>,
): Promise<Committed> {
  const { batchId } = upload;
  try {
    outputColumns(request.operation, request.fields);
    const dialect = inspect(upload, dialectRequest);
    const { header, sample } = dialect;
    const { defaultRegion, country } = request;
    const list = { header, sample, defaultRegion, country };
    const mapping = mapColumns(request.operation, list, request.mapping);
    const row: NewList = {
      id: batchId,
      ...owner,
      ...request,
      mapping,
      dialect: storedDialect(dialect),
      uploadKey: upload.key,
      uploadBytes: upload.sum.bytes,
      uploadCrc32: upload.sum.crc32,
      uploadHeadCrc32: upload.sum.headCrc32,
    };
    return await commit(async (tx) => {
      await insertBatch(tx, row, context.config.openListsMax);
      const inserted = must(await findOwnBatch(tx, owner, 'list', batchId), `batch ${batchId}`);
      await assertRecordedFits(tx, owner.accountId, context.config);
      return inserted;
    });
  } catch (error) {
    if (!(await mayBeRecorded(context, batchId, error))) await context.store.delete(upload.key);
    throw error;
  }
}

/** Wakes the split of a new batch; the sweep repeats a lost wake-up. */
export async function wakeSplit({ queues }: { queues: Queues }, batchId: string): Promise<void> {
  await queues.wake('split-batch', [{ id: `split-batch-${batchId}`, payload: { batchId } }]);
}

/** True when the batch may exist: a connection lost during the commit leaves its outcome unknown. */
async function mayBeRecorded(
  { sql }: Pick<UploadContext, 'sql'>,
  batchId: string,
  error: unknown,
): Promise<boolean> {
  if (error instanceof AppError) return false;
  return findBatch(sql, batchId).then(
    (batch) => batch !== undefined,
    () => true,
  );
}

function inspect({ head, sum, wasXlsx }: StoredUpload, request: DialectRequest): Dialect {
  const isWhole = head.length === sum.bytes;
  if (!wasXlsx) return detectDialect(head, { ...request, isWhole, columnNames });
  const { header } = request;
  return detectDialect(head, { header, isWhole, columnNames, encoding: 'utf-8', delimiter: ',' });
}

function storedDialect(dialect: Dialect): StoredDialect {
  return {
    encoding: dialect.encoding,
    encodingIsGuess: dialect.encodingIsGuess,
    bom: dialect.bom,
    delimiter: dialect.delimiter,
    newline: dialect.newline,
    header: dialect.header,
    headerText: dialect.headerText,
    doubts: dialect.doubts,
    firstByte: dialect.firstDataByte,
    firstLine: dialect.firstDataLine,
  };
}
