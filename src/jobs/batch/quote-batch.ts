/** The price of a held batch: the same match pass that a run would make, without a charge and a result. */
import { z } from 'zod';
import { availableCredits } from '../../core/credits/credits.ts';
import { tellQuote } from '../../core/free-answers/free-answers.ts';
import { must } from '../../core/lib/assert.ts';
import { takeRows } from '../../core/limits/limits.ts';
import { operations } from '../../core/operations.ts';
import { isObjectDamaged } from '../../core/storage/object-sum.ts';
import { defineJob } from '../queue/define-job.ts';
import type { JobContext } from '../queue/job-context.ts';
import { countOutcomes } from './chunk/afford.ts';
import type { ClaimedChunk } from './chunk/claim/queries.ts';
import { answeredRecords, matchChunk } from './chunk/match-chunk.ts';
import { listChunks, setQuote } from './control/queries.ts';
import { endWithError } from './fail-batch.ts';
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
      try {
        isCurrent = await quote(context, batch, batch.quote.asked_at, chunks);
      } catch (error) {
        if (!isObjectDamaged(error)) throw error;
        return await endWithError(context, batchId, error);
      }
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
  const price = batch.live ? operations[batch.operation].price : 0;
  const told = tellQuote(await countMatches(context, batch, chunks), price);
  // By what is told: an empty wallet would else say whether there is any match.
  const affordable = told.credits <= (await availableCredits(context.sql, batch.accountId));
  const done = { state: 'done', asked_at: askedAt, ...told, affordable } as const;
  return setQuote(context.sql, batch.id, done);
}

/**
 * Rows of each outcome, of the whole list. `max_credits` does not cut it: where the cut fell would name the rows
 * that match.
 */
async function countMatches(
  context: JobContext,
  batch: ListBatch,
  chunks: readonly ClaimedChunk[],
): Promise<Record<string, number>> {
  const sum: Record<string, number> = {};
  const answered = new Map<number, number>();
  for (const chunk of chunks) {
    const { outcomes, release } = await matchChunk(context, batch, chunk, answered);
    if (batch.dedupe) {
      for (const { id, row } of answeredRecords(chunk, outcomes)) answered.set(id, row);
    }
    for (const [status, count] of Object.entries(countOutcomes(outcomes))) {
      sum[status] = (sum[status] ?? 0) + count;
    }
    release();
  }
  return sum;
}
