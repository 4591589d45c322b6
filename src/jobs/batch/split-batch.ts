/**
 * Cuts an uploaded list into chunks: one pass over the bytes, one statement at the end. For an export the
 * ids of its people are written first, which gives the same.
 */
import { z } from 'zod';
import { must } from '../../core/lib/assert.ts';
import { AppError } from '../../core/lib/errors.ts';
import {
  isObjectDamaged,
  streamObject,
  twiceIfDamaged,
  verifyObject,
} from '../../core/storage/object-sum.ts';
import { annotateSpan } from '../../core/tracing.ts';
import { defineJob } from '../queue/define-job.ts';
import type { JobContext } from '../queue/job-context.ts';
import { dispatch } from './chunk/dispatch.ts';
import type { Delimiter } from './csv/record-table.ts';
import { splitIntoChunks } from './csv/split.ts';
import { writeIds } from './export/write-ids.ts';
import { endWithError } from './fail-batch.ts';
import { findBatch, insertSplit, type ListBatch, moveBatch } from './queries.ts';
import { type CanonicalObject, canonicalObject, skipBytes } from './upload/canonical-copy.ts';
import { whyNotAsXlsx } from './xlsx/write-xlsx.ts';

export const splitBatch = defineJob({
  name: 'split-batch',
  payload: z.object({ batchId: z.uuid() }),
  async run(context, { batchId }) {
    await moveBatch(context.sql, batchId, 'validating');
    const batch = must(await findBatch(context.sql, batchId), `batch ${batchId}`);
    annotateSpan({ 'enrich.batch': batchId, 'enrich.kind': batch.kind });
    const { state } = batch;
    // A batch that was cancelled before its split is split too: its rows come out as not processed.
    if (state !== 'validating' && state !== 'cancelling') return;
    if (batch.chunksTotal !== null) return dispatch(context);
    try {
      if (batch.kind === 'export') await writeIds(context, batch);
      else await twiceIfDamaged(() => split(context, batch));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.status >= 500 && !isObjectDamaged(error)) throw error;
      await endWithError(context, batchId, error);
      return;
    }
    await dispatch(context);
  },
});

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
