/**
 * Cuts an uploaded list into chunks: one pass over the bytes, one statement at the end.
 */
import { streamObject, twiceIfDamaged, verifyObject } from '../../core/storage/object-sum.ts';
import { splitIntoChunks } from '../../formats/csv/split.ts';
import { whyNotAsXlsx } from '../../formats/xlsx/write-xlsx.ts';
import type { ListBatch } from '../batch/batch.ts';
import { insertSplit } from '../batch/batches.sql.ts';
import type { JobContext } from '../queue/job-context.ts';
import { type CanonicalObject, canonicalObject, skipBytes } from './canonical-copy.ts';

/** Splits a list. Throws `AppError` for one that cannot be read. */
export function splitList(context: JobContext, batch: ListBatch): Promise<void> {
  return twiceIfDamaged(() => split(context, batch));
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
    delimiter: dialect.delimiter,
    firstByte,
    firstLine: dialect.firstLine,
    rowsMax: config.batchRowsMax,
    chunkRowsMax: config.chunkRows,
  });
}
