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
import { countOutcomes } from './chunk/afford.ts';
import { matchChunk } from './chunk/match-chunk.ts';
import type { ClaimedChunk } from './chunk/queries.ts';
import { listChunks, setQuote } from './control/queries.ts';
import { type Batch, findBatch } from './queries.ts';

export const quoteBatch = defineJob({
  name: 'quote-batch',
  payload: z.object({ batchId: z.uuid() }),
  async run(context, { batchId }) {
    const batch = must(await findBatch(context.sql, batchId), `batch ${batchId}`);
    if (batch.state !== 'ready') return;
    const chunks = await listChunks(context.sql, batchId);
    const [first] = chunks;
    // A quote counts as rows; the sweep wakes it again when the key has none left this minute.
    if (first && (await takeRows(context.sql, first, batch.rowsTotal ?? 0)) > 0) return;
    const rows = await countMatches(context, batch, chunks);
    const matched = batch.maxCredits === null ? rows.matched : limited(batch, rows.matched ?? 0);
    const credits = batch.live ? (matched ?? 0) * operations[batch.operation].price : 0;
    const affordable = credits <= (await availableCredits(context.sql, batch.accountId));
    await setQuote(context.sql, batchId, { state: 'done', rows, credits, affordable });
  },
});

/** Matches that the batch's own limit leaves. */
function limited(batch: Batch, matched: number): number {
  const byLimit = Math.floor((batch.maxCredits ?? 0) / operations[batch.operation].price);
  return batch.live ? Math.min(matched, byLimit) : matched;
}

async function countMatches(
  context: JobContext,
  batch: Batch,
  chunks: readonly ClaimedChunk[],
): Promise<Record<string, number>> {
  const sum: Record<string, number> = {};
  const seen = new Set<number>();
  for (const chunk of chunks) {
    const { outcomes } = await matchChunk(context, batch, chunk);
    const counts: Record<string, number> = countOutcomes(outcomes);
    if (batch.dedupe) {
      for (const { id } of outcomes) {
        if (id === 0) continue;
        if (seen.has(id)) {
          counts.matched = (counts.matched ?? 0) - 1;
          counts.duplicate = (counts.duplicate ?? 0) + 1;
        }
        seen.add(id);
      }
    }
    for (const [status, count] of Object.entries(counts)) sum[status] = (sum[status] ?? 0) + count;
  }
  return sum;
}
