/**
 * Cuts an uploaded list into chunks: one pass over the bytes, one statement at the end. For an export the
 * ids of its people are written first, which gives the same.
 */
import { z } from 'zod';
import { must } from '../../core/lib/assert.ts';
import { AppError } from '../../core/lib/errors.ts';
import { annotateSpan } from '../../core/tracing.ts';
import { defineJob } from '../queue/define-job.ts';
import type { JobContext } from '../queue/job-context.ts';
import { dispatch } from './chunk/dispatch.ts';
import type { Delimiter } from './csv/record-table.ts';
import { splitIntoChunks } from './csv/split.ts';
import { writeIds } from './export/write-ids.ts';
import { failBatch, findBatch, insertSplit, type ListBatch, moveBatch } from './queries.ts';
import { canonicalObject } from './upload/canonical-copy.ts';
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
      else await split(context, batch);
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      const { code, status, message: detail, errors } = error;
      await failBatch(context.sql, batchId, { code, status, detail, errors });
      // Who cancelled a list that cannot be read does not learn more of it.
      await moveBatch(context.sql, batchId, 'cancelled');
      return;
    }
    await dispatch(context);
  },
});

async function split(context: JobContext, batch: ListBatch): Promise<void> {
  const { dialect } = batch;
  const canonical = await canonicalObject(context.store, batch);
  const range = { from: canonical.firstByte, to: canonical.bytes };
  // A list may be a header alone; no store can read a range of nothing.
  const isEmpty = range.from === range.to;
  const source: AsyncIterable<Buffer> | Buffer[] = isEmpty
    ? []
    : context.store.getStream(canonical.key, range);
  const { chunks, totals } = await splitIntoChunks(source, {
    delimiter: dialect.delimiter as Delimiter,
    firstByte: canonical.firstByte,
    firstLine: dialect.firstLine,
    rowsMax: context.config.batchRowsMax,
    chunkRowsMax: context.config.chunkRows,
  });
  await insertSplit(
    context.sql,
    batch.id,
    {
      hold: batch.hold,
      canonicalKey: canonical.key,
      rowsTotal: totals.rows,
      blankLines: totals.blankLines,
      width: Math.max(totals.widestFieldCount, dialect.header?.length ?? 0),
      notAsXlsx: whyNotAsXlsx(totals),
      writtenBytes: canonical.key === batch.uploadKey ? 0 : canonical.bytes,
    },
    chunks.map((chunk, index) => ({ ...chunk, number: index + 1 })),
  );
}
