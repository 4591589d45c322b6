/**
 * One chunk of a batch: claim, match, reserve the true price, write the part, commit. Everything up to
 * the commit may happen twice or be lost; the commit happens once, because it needs the epoch that the
 * claim gave and settles the reservation in the statement that records the part.
 */
import { z } from 'zod';
import { reserveForChunk } from '../../../core/credits/queries.ts';
import { inTransaction } from '../../../core/db/client.ts';
import { isUnavailable } from '../../../core/db/pg-errors.ts';
import { outputColumns } from '../../../core/enrich/answer.ts';
import type { Outcome } from '../../../core/enrich/enrich-many.ts';
import { must } from '../../../core/lib/assert.ts';
import { takeRows } from '../../../core/limits/limits.ts';
import { operations } from '../../../core/operations.ts';
import { defineJob } from '../../queue/define-job.ts';
import type { JobContext } from '../../queue/job-context.ts';
import type { Delimiter } from '../csv/record-table.ts';
import { finishBatch } from '../finish-batch.ts';
import { type Batch, findBatch } from '../queries.ts';
import { checksAgreement } from '../read-rows.ts';
import { renderPart } from '../render-part.ts';
import { reportPart } from '../report.ts';
import { affordableRows, countOutcomes, cutOutcomes } from './afford.ts';
import { dispatch } from './dispatch.ts';
import { holdLease } from './lease.ts';
import { answeredRecords, matchChunk } from './match-chunk.ts';
import { partKey } from './part-key.ts';
import {
  type ClaimedChunk,
  type Committed,
  claimChunk,
  commitPart,
  releaseChunk,
} from './queries.ts';
import { storeCall } from './store-call.ts';

/** Seconds before a failed chunk is tried again. */
const RETRY_SECONDS = 2;

export const runChunk = defineJob({
  name: 'run-chunk',
  payload: z.object({ chunkId: z.number().int(), epoch: z.number().int() }),
  async run(context, wakeUp) {
    const chunk = await claimChunk(context.sql, wakeUp);
    if (chunk === undefined) return;
    const lease = holdLease(context, chunk);
    try {
      const batch = must(await findBatch(context.sql, chunk.batchId), `batch ${chunk.batchId}`);
      const waitSeconds = await takeRows(context.limiter, chunk, rowsToRun(batch, chunk));
      if (waitSeconds > 0) {
        // The chunk goes back until the time that the bucket named; other keys go on.
        const why = { retryAfterSeconds: waitSeconds, counts: false };
        await inTransaction(context.sql, (tx) => releaseChunk(tx, chunk, why));
        return;
      }
      const committed = await workOn(context, batch, chunk);
      if (committed?.batchDone) await finishBatch(context, batch.id);
    } catch (error) {
      const counts = !isUnavailable(error);
      context.log.error({ err: error, batch: chunk.batchId, chunk: chunk.number }, 'chunk failed');
      await inTransaction(context.sql, (tx) =>
        releaseChunk(tx, chunk, { retryAfterSeconds: RETRY_SECONDS, counts }),
      );
    } finally {
      lease.stop();
    }
    await dispatch(context);
  },
});

/** Rows that the claim may match: none of a batch that is being cancelled. */
function rowsToRun(batch: Batch, chunk: ClaimedChunk): number {
  if (batch.state === 'cancelling') return 0;
  return Math.min(chunk.rows - chunk.rowsDone, chunk.partRowsMax ?? chunk.rows);
}

/** Runs a claimed chunk, or the next part of it. Undefined when it was no longer ours, or not paid. */
async function workOn(
  context: JobContext,
  batch: Batch,
  chunk: ClaimedChunk,
): Promise<Committed | undefined> {
  const matched = await matchChunk(context, batch, chunk);
  const price = batch.live ? operations[batch.operation].price : 0;
  const paid = await payFor(context, batch, chunk, matched.outcomes, price);
  if (paid === undefined) return undefined;

  const { piece, records, repairs } = matched;
  const { outcomes } = paid;
  const layout = {
    delimiter: batch.dialect.delimiter as Delimiter,
    newline: batch.dialect.newline,
    width: must(batch.width, 'width of a split batch'),
    columns: outputColumns(batch.operation, batch.fields),
    price,
    checksAgreement: checksAgreement(batch.mapping),
  };
  const from = chunk.rowsDone;
  const rows = { piece, records, from, to: from + outcomes.length };
  const { bytes, filled, release } = renderPart(rows, outcomes, layout);
  const objectKey = partKey(batch.id, chunk);
  await storeCall(context.store.put(objectKey, [bytes]));
  const byteLength = bytes.length;
  release();
  const committed = await commitPart(context.sql, {
    batchId: batch.id,
    chunkId: chunk.chunkId,
    chunkNumber: chunk.number,
    epoch: chunk.epoch,
    k: chunk.parts,
    objectKey,
    rows: outcomes.length,
    bytes: byteLength,
    counts: countOutcomes(outcomes),
    operation: batch.operation,
    reservationId: paid.reservationId,
    outOfCredits: paid.outOfCredits,
    records: batch.dedupe ? answeredRecords(chunk, outcomes) : [],
    report: reportPart(records, from, outcomes, layout, { filled, repairs }),
  });
  if (committed === undefined) warnRefused(context, chunk);
  return committed;
}

/** The lease went to another worker, or the batch was cancelled: nothing of this part counts. */
function warnRefused(context: JobContext, chunk: ClaimedChunk): void {
  const { batchId: batch, number, epoch } = chunk;
  context.log.warn({ batch, chunk: number, epoch }, 'part refused');
}

interface Paid {
  /** Outcomes of the rows that the part will hold. */
  outcomes: readonly Outcome[];
  reservationId: number | null;
  outOfCredits: boolean;
}

/** Reserves the price of the matches, or of the longest run of rows that can be paid. */
async function payFor(
  context: JobContext,
  batch: Batch,
  chunk: ClaimedChunk,
  outcomes: readonly Outcome[],
  price: number,
): Promise<Paid | undefined> {
  const matches = outcomes.filter((outcome) => outcome.status === 'matched').length;
  if (matches === 0 || price === 0) {
    return { outcomes, reservationId: null, outOfCredits: false };
  }
  const { chunkId, epoch } = chunk;
  const reserved = await inTransaction(context.sql, (tx) =>
    reserveForChunk(tx, { batchId: batch.id, chunkId, epoch, matches, price }),
  );
  if (reserved === undefined) {
    warnRefused(context, chunk);
    return undefined;
  }
  const { granted, limitedBy, reservationId } = reserved;
  if (limitedBy === null) return { outcomes, reservationId, outOfCredits: false };
  if (limitedBy === 'max_credits') {
    return { outcomes: cutOutcomes(outcomes, granted), reservationId, outOfCredits: false };
  }
  const affordable = affordableRows(outcomes, granted);
  if (affordable === 0) {
    await inTransaction(context.sql, (tx) => releaseChunk(tx, chunk, { pause: true }));
    return undefined;
  }
  return { outcomes: outcomes.slice(0, affordable), reservationId, outOfCredits: true };
}
