/**
 * Records a stored upload as a list. A file that is invalid as a whole is refused here, before
 * anything is accepted, and leaves nothing behind.
 */
import type { OwnerWithKey } from '../../core/accounts/owner.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { checkListFields } from '../../core/enrich/required-fields.ts';
import { must } from '../../core/lib/assert.ts';
import { AppError } from '../../core/lib/errors.ts';
import type { OperationName } from '../../core/operations.ts';
import type { RequestedMapping } from '../../mapping/columns.ts';
import type { ListBatch, ListOptions } from '../batch/batch.ts';
import { findBatch, findOwnBatch } from '../batch/batches.sql.ts';
import { insertBatch, type NewList } from '../batch/insert-batch.sql.ts';
import { lockStoredBytes } from '../batch/stored-bytes.sql.ts';
import { assertRecordedFits, countMade } from '../batch/stored-bytes.ts';
import type { Queues } from '../queue/queues.ts';
import { withNameDoubt } from './name-doubt.ts';
import { type DialectRequest, type ReadList, readUpload } from './read-upload.ts';
import type { StoredUpload, UploadContext } from './store-upload.ts';

export interface ListRequest extends ListOptions {
  operation: OperationName;
  name: string;
  mapping: RequestedMapping | null;
  /** True for a held list that may be mapped later. */
  allowUnmapped: boolean;
  hold: boolean;
  /** The batch whose rows this one runs again. */
  rerunOf: string | null;
  /** Of a rerun, the number of each row in the list that was uploaded. */
  rerunRows?: readonly number[];
  /** Of decisions, the record that each of these rows means, or 0. */
  rerunRecords?: readonly number[];
}

/** A stored upload with the request for it. */
export interface RequestedList {
  upload: StoredUpload;
  request: ListRequest;
  dialect: DialectRequest;
}

/**
 * Turns a stored upload into a list. `commit` calls `insert` once in a transaction and resolves when that is
 * committed; its result is returned. Call `wakeSplit` with the batch's id afterwards. Throws `AppError`: 415 for a
 * file of another type, 422 `unreadable_csv` with the line, 422 `unmapped`, 400 for a request that does not fit the
 * file, 409 `storage_full` when the account has no room for it, 429 when the account has its maximum of open lists.
 * The upload is then deleted.
 */
export async function createList<Committed>(
  context: UploadContext,
  owner: OwnerWithKey,
  { upload, request, dialect: dialectRequest }: RequestedList,
  commit: (insert: (tx: Sql) => Promise<ListBatch>) => Promise<Committed>,
): Promise<Committed> {
  const { batchId } = upload;
  let stored = [upload.key];
  try {
    checkListFields(context.config, request.operation, request);
    const list = await readUpload(context, upload, request, dialectRequest);
    stored = [upload.key, list.uploadKey];
    const { doubts } = list.dialect;
    list.dialect.doubts = await withNameDoubt(context, { live: owner.live, ...list, doubts });
    const { allowUnmapped: _, ...options } = request;
    const row: NewList = { id: batchId, ...owner, ...options, ...uploadColumns(list) };
    return await commit(async (tx) => {
      await insertBatch(tx, row, context.config.openListsMax);
      await countMade(tx, owner.accountId, context.config);
      const inserted = must(await findOwnBatch(tx, owner, 'list', batchId), `batch ${batchId}`);
      await assertRecordedFits(tx, owner.accountId, context.config);
      return inserted;
    });
  } catch (error) {
    if (!(await mayBeRecorded(context, batchId, error))) {
      for (const key of stored) await context.store.delete(key);
    }
    throw error;
  }
}

/** The columns of a batch that say where its text is and how it is read. */
export function uploadColumns({ uploadKey, sum, dialect, mapping }: ReadList) {
  return {
    mapping,
    dialect,
    uploadKey,
    uploadBytes: sum.bytes,
    uploadCrc32: sum.crc32,
    uploadHeadCrc32: sum.headCrc32,
    storedBytes: sum.bytes + (dialect.workbook?.bytes ?? 0),
  };
}

/** Wakes the split of a list that was just accepted or read again; the sweep repeats a lost wake-up. */
export async function wakeSplit({ queues }: { queues: Queues }, batchId: string): Promise<void> {
  await queues.wake('split-batch', [{ id: `split-batch-${batchId}`, payload: { batchId } }]);
}

/**
 * True when the batch may exist: a connection lost during the commit leaves its outcome unknown. The server may still be at the
 * commit: it holds the account, which the insert has locked, until the end.
 */
async function mayBeRecorded(
  { sql, accountId }: Pick<UploadContext, 'sql' | 'accountId'>,
  batchId: string,
  error: unknown,
): Promise<boolean> {
  if (error instanceof AppError) return false;
  const find = async (tx: Sql) => {
    await lockStoredBytes(tx, accountId);
    return findBatch(tx, batchId);
  };
  return inTransaction(sql, find).then(
    (batch) => batch !== undefined,
    () => true,
  );
}
