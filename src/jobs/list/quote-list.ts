/**
 * Quotes a held batch: the same match pass as a run, without charges or results. Nothing is committed that would have to prove
 * the state of the graph: the quote is true of the moments at which its chunks were matched, from the local copy too.
 */
import { availableCredits } from '../../core/credits/credits.ts';
import { paysOnce } from '../../core/credits/owned.ts';
import { isUnavailable } from '../../core/db/pg-errors.ts';
import { discloseAmbiguous, discloseQuote } from '../../core/enrich/free-outcomes.ts';
import { takeRows } from '../../core/limits/limits.ts';
import { operations } from '../../core/operations.ts';
import { isObjectLost } from '../../core/storage/object-sum.ts';
import type { ListBatch } from '../batch/batch.ts';
import { setQuote } from '../batch/control-batch.sql.ts';
import type { HeldBatch, NotDone } from '../batch/hold-batch.ts';
import { countOutcomes } from '../chunk/afford.ts';
import { type ClaimedChunk, listChunks } from '../chunk/claim-chunk.sql.ts';
import { answeredRecords, matchChunk } from '../chunk/match-chunk.ts';
import { countCharged, findOwnedRows, noRows } from '../chunk/owned-rows.ts';
import { readFromCopy } from '../chunk/read-from-copy.ts';
import type { JobContext } from '../queue/job-context.ts';

/**
 * Computes and stores the quote of a claimed batch. Not done when the key has no rows left this minute, or when
 * the batch was changed, started, cancelled or requested again meanwhile.
 */
export async function quoteList(context: JobContext, held: HeldBatch): Promise<NotDone | null> {
  const { batch } = held;
  if (batch.kind !== 'list' || batch.quote === null) return null;
  const chunks = await listChunks(context.sql, batch.id);
  const [first] = chunks;
  // A quote counts towards the rows per minute.
  const waitSeconds = first ? await takeRows(context, first, batch.rowsTotal ?? 0) : 0;
  if (waitSeconds > 0) return { retryAfterSeconds: waitSeconds };
  const rows = await countMatches(context, held, batch, chunks).catch(async (error: unknown) => {
    // They could not be read or looked up, and are tried again.
    const areUnread = isObjectLost(error) || isUnavailable(error);
    if (first && areUnread) await takeRows(context, first, -(batch.rowsTotal ?? 0));
    throw error;
  });
  if (rows === undefined) return { retryAfterSeconds: 0 };
  const price = batch.live ? operations[batch.operation].price : 0;
  const disclosed = discloseQuote(rows.outcomes, rows.owned, price);
  // Based on the rounded figure: otherwise an empty wallet would reveal whether there is any match.
  const affordable = disclosed.credits <= (await availableCredits(context.sql, batch.accountId));
  const quote = {
    state: 'done',
    asked_at: batch.quote.asked_at,
    ...disclosed,
    affordable,
  } as const;
  const isStored = await setQuote(context.sql, batch.id, quote);
  return isStored ? null : { retryAfterSeconds: 0 };
}

/**
 * Rows by outcome for the whole list, and how many of the matched ones cost nothing because the account owns the
 * person; undefined when the quote is no longer needed. `max_credits` does not cut
 * it: the position of the cut would reveal which rows match.
 */
async function countMatches(
  context: JobContext,
  held: HeldBatch,
  batch: ListBatch,
  chunks: readonly ClaimedChunk[],
): Promise<{ outcomes: Record<string, number>; owned: number } | undefined> {
  const isOnce = await paysOnce(context.sql, batch);
  const seen = new Set<number>();
  let owned = 0;
  const sum: Record<string, number> = {};
  const answered = new Map<number, number>();
  for (const chunk of chunks) {
    if (!(await held.isWanted())) return undefined;
    const { outcomes, release } = await readFromCopy(context, batch, chunk, (copy) =>
      matchChunk(context, batch, chunk, { answered, copy }),
    );
    if (batch.dedupe) {
      for (const { id, row } of answeredRecords(chunk, outcomes)) answered.set(id, row);
    }
    const ownedRows = isOnce ? await findOwnedRows(context.sql, batch, outcomes, seen) : noRows;
    owned += ownedRows.size;
    const disclosed = discloseAmbiguous(outcomes, countCharged(outcomes, ownedRows));
    for (const [status, count] of Object.entries(countOutcomes(disclosed))) {
      sum[status] = (sum[status] ?? 0) + count;
    }
    release();
  }
  return { outcomes: sum, owned };
}
