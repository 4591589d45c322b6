/**
 * Cuts an uploaded list into chunks: one pass over the bytes, one statement at the end.
 */
import { inTransaction } from '../../core/db/client.ts';
import { isUnavailable } from '../../core/db/pg-errors.ts';
import { AppError } from '../../core/lib/errors.ts';
import { streamObject, twiceIfDamaged, verifyObject } from '../../core/storage/object-sum.ts';
import { splitIntoChunks } from '../../formats/csv/split.ts';
import { whyNotAsXlsx } from '../../formats/xlsx/write-xlsx.ts';
import type { ListBatch } from '../batch/batch.ts';
import { insertSplit } from '../batch/batches.sql.ts';
import { triedToDelete } from '../batch/delete-stored.ts';
import { lockStoredBytes } from '../batch/stored-bytes.sql.ts';
import { assertRecordedFits } from '../batch/stored-bytes.ts';
import type { JobContext } from '../queue/job-context.ts';
import { resultBytesMax } from '../result/result-bytes.ts';
import { type CanonicalObject, canonicalObject, skipBytes } from './canonical-copy.ts';

/**
 * Splits a list. Throws `AppError` for an unreadable one, and 409 `storage_full` when its result may exceed the
 * account's storage.
 */
export function splitList(context: JobContext, batch: ListBatch): Promise<void> {
  return twiceIfDamaged(() => split(context, batch));
}

async function split(context: JobContext, batch: ListBatch): Promise<void> {
  const canonical = await canonicalObject(context.store, batch);
  let isRecorded = false;
  try {
    isRecorded = await cutAndRecord(context, batch, canonical);
  } catch (error) {
    // Another error, such as a lost connection, leaves open whether the copy was recorded.
    isRecorded = !(error instanceof AppError);
    throw error;
  } finally {
    // It counts towards no account's storage. Callers can end a list at any moment of its split.
    if (!isRecorded && canonical.key !== batch.uploadKey) {
      await triedToDelete(context, canonical.key);
    }
  }
}

/** Returns false when the list has ended meanwhile, or was split by another worker. */
async function cutAndRecord(
  context: JobContext,
  batch: ListBatch,
  canonical: CanonicalObject,
): Promise<boolean> {
  const { dialect } = batch;
  const { chunks, totals } = await cut(context, dialect, canonical).catch(async (error) => {
    // A flipped byte can be a quote: an unreadable list may be a damaged object. One that the store did not return is not read again.
    if (!isUnavailable(error)) await verifyObject(context.store, canonical.key, canonical.sum);
    throw error;
  });
  const width = Math.max(totals.widestFieldCount, dialect.header?.length ?? 0);
  const { rows } = totals;
  return inTransaction(context.sql, async (tx) => {
    // First, because calls lock the account before its lists.
    await lockStoredBytes(tx, batch.accountId);
    const isSplit = await insertSplit(
      tx,
      batch,
      {
        hold: batch.hold,
        canonicalKey: canonical.key,
        canonical: canonical.sum,
        rowsTotal: rows,
        ownedFound: 0,
        blankLines: totals.blankLines,
        width,
        notAsXlsx: whyNotAsXlsx(totals),
        writtenBytes: canonical.key === batch.uploadKey ? 0 : canonical.sum.bytes,
        resultBytesMax: resultBytesMax(batch, { bytes: canonical.sum.bytes, rows, width }),
      },
      chunks.map((chunk, index) => ({ ...chunk, number: index + 1 })),
    );
    if (isSplit) await assertRecordedFits(tx, batch.accountId, context.config);
    return isSplit;
  });
}

/** Reads the object from its first byte, because the checksum covers all bytes. */
function cut(
  { store, config }: JobContext,
  dialect: ListBatch['dialect'],
  { key, sum, firstByte }: CanonicalObject,
): ReturnType<typeof splitIntoChunks> {
  return splitIntoChunks(skipBytes(streamObject(store, key, sum), firstByte), {
    delimiter: dialect.delimiter,
    firstByte,
    firstLine: dialect.firstLine,
    rowsMax: config.batchRowsMax,
    chunkRowsMax: config.chunkRows,
  });
}
