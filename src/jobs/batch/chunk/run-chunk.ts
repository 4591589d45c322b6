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
import { matchChunk } from './match-chunk.ts';
import {
  type ClaimedChunk,
  type Committed,
  claimChunk,
  commitPart,
  releaseChunk,
} from './queries.ts';

/** Seconds before a failed chunk is tried again. */
const RETRY_SECONDS = 2;

export const runChunk = defineJob({
  name: 'run-chunk',
  payload: z.object({ chunkId: z.number().int(), epoch: z.number().int() }),
  async run(context, wakeUp) {
    const chunk = await claimChunk(context.sql, wakeUp);
    if (chunk === undefined) return;
    const batch = must(await findBatch(context.sql, chunk.batchId), `batch ${chunk.batchId}`);
    const rows = batch.state === 'cancelling' ? 0 : chunk.rows - chunk.rowsDone;
    const waitSeconds = await takeRows(context.sql, chunk, rows);
    if (waitSeconds > 0) {
      // The chunk goes back until the time that the bucket named; other keys go on.
      const why = { retryAfterSeconds: waitSeconds, counts: false };
      await inTransaction(context.sql, (tx) => releaseChunk(tx, chunk, why));
      return;
    }
    const lease = holdLease(context, chunk);
    try {
      const committed = await workOn(context, batch, chunk);
      if (committed?.batchDone) await finishBatch(context, batch.id);
    } catch (error) {
      const counts = !isUnavailable(error);
      context.log.error({ err: error, batch: batch.id, chunk: chunk.number }, 'chunk failed');
      await inTransaction(context.sql, (tx) =>
        releaseChunk(tx, chunk, { retryAfterSeconds: RETRY_SECONDS, counts }),
      );
    } finally {
      lease.stop();
    }
    await dispatch(context);
  },
});

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

  const { piece, records, repaired } = matched;
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
  const { bytes, filled } = renderPart(rows, outcomes, layout);
  const objectKey = partKey(batch.id, chunk);
  await context.store.put(objectKey, [bytes]);
  return commitPart(context.sql, {
    batchId: batch.id,
    chunkId: chunk.chunkId,
    chunkNumber: chunk.number,
    epoch: chunk.epoch,
    k: chunk.parts,
    objectKey,
    rows: outcomes.length,
    bytes: bytes.length,
    counts: countOutcomes(outcomes),
    operation: batch.operation,
    reservationId: paid.reservationId,
    outOfCredits: paid.outOfCredits,
    records: batch.dedupe ? answeredRecords(chunk, outcomes) : [],
    report: reportPart(records, from, outcomes, layout, { filled, repaired }),
  });
}

/** The key holds the epoch: what a worker with an old lease writes is another object. */
function partKey(batchId: string, chunk: ClaimedChunk): string {
  return `batches/${batchId}/parts/${chunk.number}-${chunk.parts}-${chunk.epoch}.csv`;
}

function answeredRecords(
  chunk: ClaimedChunk,
  outcomes: readonly Outcome[],
): { id: number; row: number }[] {
  const firstRow = chunk.firstRow + chunk.rowsDone;
  return outcomes.flatMap(({ status, id }, index) =>
    status === 'matched' ? [{ id, row: firstRow + index }] : [],
  );
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
  if (reserved === undefined) return undefined;
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
