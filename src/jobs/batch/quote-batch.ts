/**
 * The exact price of a held batch: the same match pass that a run would make, without a charge and
 * without a result.
 */
import { z } from 'zod';
import { availableCredits } from '../../core/credits/credits.ts';
import { must } from '../../core/lib/assert.ts';
import { takeRows } from '../../core/limits/limits.ts';
import { operations } from '../../core/operations.ts';
import { defineJob } from '../queue/define-job.ts';
import type { JobContext } from '../queue/job-context.ts';
import { countOutcomes, cutOutcomes } from './chunk/afford.ts';
import type { ClaimedChunk } from './chunk/claim/queries.ts';
import { answeredRecords, matchChunk } from './chunk/match-chunk.ts';
import { listChunks, setQuote } from './control/queries.ts';
import { findBatch, type ListBatch } from './queries.ts';

export const quoteBatch = defineJob({
  name: 'quote-batch',
  payload: z.object({ batchId: z.uuid() }),
  async run(context, { batchId }) {
    let isCurrent = false;
    // A batch that was changed meanwhile, and asked for again, is matched again.
    while (!isCurrent) {
      const batch = must(await findBatch(context.sql, batchId), `batch ${batchId}`);
      if (batch.kind !== 'list' || batch.state !== 'ready') return;
      if (batch.quote?.state !== 'running') return;
      const chunks = await listChunks(context.sql, batchId);
      const [first] = chunks;
      // A quote counts as rows; the sweep wakes it again when the key has none left this minute.
      if (first && (await takeRows(context.limiter, first, batch.rowsTotal ?? 0)) > 0) return;
      isCurrent = await quote(context, batch, batch.quote.asked_at, chunks);
    }
  },
});

/** Makes and stores a quote; false when it is not what the batch asks for any more. */
async function quote(
  context: JobContext,
  batch: ListBatch,
  askedAt: string,
  chunks: readonly ClaimedChunk[],
): Promise<boolean> {
  const rows = await countMatches(context, batch, chunks);
  const credits = batch.live ? (rows.matched ?? 0) * operations[batch.operation].price : 0;
  const affordable = credits <= (await availableCredits(context.sql, batch.accountId));
  const done = { state: 'done', asked_at: askedAt, rows, credits, affordable } as const;
  return setQuote(context.sql, batch.id, done);
}

/** Rows of each outcome, in the order of the file. */
async function countMatches(
  context: JobContext,
  batch: ListBatch,
  chunks: readonly ClaimedChunk[],
): Promise<Record<string, number>> {
  const sum: Record<string, number> = {};
  const answered = new Map<number, number>();
  let left = payableMatches(batch);
  for (const chunk of chunks) {
    const matched = await matchChunk(context, batch, chunk, answered);
    const outcomes = cutOutcomes(matched.outcomes, left);
    if (batch.dedupe) {
      for (const { id, row } of answeredRecords(chunk, outcomes)) answered.set(id, row);
    }
    const counts = countOutcomes(outcomes);
    left -= counts.matched;
    for (const [status, count] of Object.entries(counts)) sum[status] = (sum[status] ?? 0) + count;
  }
  return sum;
}

/** Matches that the batch's own limit pays for. */
function payableMatches({ live, maxCredits, operation }: ListBatch): number {
  if (!live || maxCredits === null) return Number.POSITIVE_INFINITY;
  return Math.floor(maxCredits / operations[operation].price);
}
