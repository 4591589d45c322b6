/**
 * Cuts an uploaded list into chunks: one pass over the bytes, one statement at the end. For an export the
 * ids of its people are written first, which gives the same.
 */
import { inTransaction } from '../../core/db/client.ts';
import { streamObject, twiceIfDamaged, verifyObject } from '../../core/storage/object-sum.ts';
import type { JobContext } from '../queue/job-context.ts';
import type { HeldBatch } from './batch-job/hold-batch.ts';
import { dispatch } from './chunk/dispatch.ts';
import { endWithoutFiles } from './control/queries.ts';
import type { Delimiter } from './csv/record-table.ts';
import { splitIntoChunks } from './csv/split.ts';
import { writeIds } from './export/write-ids.ts';
import { insertSplit, type ListBatch } from './queries.ts';
import { type CanonicalObject, canonicalObject, skipBytes } from './upload/canonical-copy.ts';
import { whyNotAsXlsx } from './xlsx/write-xlsx.ts';

/** Splits a batch in hand. Throws `AppError` for a list that cannot be read, or a filter of too many people. */
export async function splitBatch(context: JobContext, { batch }: HeldBatch): Promise<null> {
  if (batch.state === 'cancelling') {
    // Only a process of the version before leaves a batch like this.
    await inTransaction(context.sql, (tx) => endWithoutFiles(tx, batch.id));
    return null;
  }
  if (batch.kind === 'export') await writeIds(context, batch);
  else await twiceIfDamaged(() => split(context, batch));
  await dispatch(context);
  return null;
}

async function split(context: JobContext, batch: ListBatch): Promise<void> {
  const { dialect } = batch;
  const canonical = await canonicalObject(context.store, batch);
  const { chunks, totals } = await cut(context, dialect, canonical).catch(async (error) => {
    // A flipped byte can be a quote: what is wrong with the list may be what is wrong with the object.
    await verifyObject(context.store, canonical.key, canonical.sum);
    throw error;
  });
  await insertSplit(
    context.sql,
    batch.id,
    {
      hold: batch.hold,
      canonicalKey: canonical.key,
      canonical: canonical.sum,
      rowsTotal: totals.rows,
      blankLines: totals.blankLines,
      width: Math.max(totals.widestFieldCount, dialect.header?.length ?? 0),
      notAsXlsx: whyNotAsXlsx(totals),
      writtenBytes: canonical.key === batch.uploadKey ? 0 : canonical.sum.bytes,
    },
    chunks.map((chunk, index) => ({ ...chunk, number: index + 1 })),
  );
}

/** Reads the whole object, from its first byte on, because its checksum is that of all its bytes. */
function cut(
  { store, config }: JobContext,
  dialect: ListBatch['dialect'],
  { key, sum, firstByte }: CanonicalObject,
): ReturnType<typeof splitIntoChunks> {
  return splitIntoChunks(skipBytes(streamObject(store, key, sum), firstByte), {
    delimiter: dialect.delimiter as Delimiter,
    firstByte,
    firstLine: dialect.firstLine,
    rowsMax: config.batchRowsMax,
    chunkRowsMax: config.chunkRows,
  });
}
