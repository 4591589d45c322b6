/** Pays for a part before it is written: reserves the price of its matches, or of as many as can be paid for. */
import { findOwned } from '../../core/credits/owned.ts';
import { inTransaction } from '../../core/db/client.ts';
import type { Outcome } from '../../core/enrich/enrich-many.ts';
import { countRefusal } from '../../core/limits/refusals.ts';
import { priceOf } from '../../core/operations.ts';
import type { Batch } from '../batch/batch.ts';
import type { Shortage } from '../batch/states.ts';
import type { JobContext } from '../queue/job-context.ts';
import { affordableRows, cutOutcomes, rowsBeforeUnpaid } from './afford.ts';
import { countPart, warnRefused } from './chunk-metrics.ts';
import type { ClaimedChunk } from './claim-chunk.sql.ts';
import { type Release, releaseChunk } from './commit-part.sql.ts';
import { chargedRecords, countCharged } from './owned-rows.ts';
import { findShortage, lockReserved, reserveForChunk } from './reserve.sql.ts';

interface Paid {
  /** Outcomes of the rows in the part. */
  outcomes: readonly Outcome[];
  reservationId: number | null;
  /** The shortage that the rest of the chunk waits for, or null. */
  shortOf: Shortage | null;
}

/** Rows before payment. The matches at the indexes `owned` cost nothing. */
export interface PricedRows {
  outcomes: readonly Outcome[];
  owned: ReadonlySet<number>;
}

/** The same; with `isOnce` their account pays for each person once. */
interface RowsToPay extends PricedRows {
  isOnce: boolean;
}

/**
 * Reserves the price of the matches, or of the longest prefix of rows that can be paid. Rows without a match
 * cost nothing, and neither do owned people, but they are only delivered while a match could have been paid, just as a
 * single call without credits is refused before its lookup.
 */
export async function payFor(
  context: JobContext,
  batch: Batch,
  chunk: ClaimedChunk,
  rows: RowsToPay,
  price: number,
): Promise<Paid | undefined> {
  const { outcomes, owned } = rows;
  const free = { outcomes, reservationId: null, shortOf: null };
  // Rows of a cancelled batch were not looked up.
  if (price === 0 || batch.state === 'cancelling') return free;
  const matches = countCharged(outcomes, owned);
  const wereLookedUp = outcomes.some(({ status }) => status !== 'invalid' && status !== 'error');
  if (matches === 0) {
    if (!wereLookedUp) return free;
    const limitedBy = await findShortage(context.sql, { batchId: batch.id, price });
    if (limitedBy === null) return free;
    return payInPart(context, batch, chunk, rows, { limitedBy, paid: 0, reservationId: null });
  }
  const { chunkId, epoch } = chunk;
  const input = { batchId: batch.id, chunkId, epoch, matches, price };
  const reserved = await reserveForChunk(context.sql, input);
  if (reserved === undefined) {
    warnRefused(context.log, chunk);
    return undefined;
  }
  const { granted, limitedBy, reservationId } = reserved;
  if (limitedBy === null) return { outcomes, reservationId, shortOf: null };
  const isEnd = isEndOfExport(batch, limitedBy) && granted + batch.creditsCharged > 0;
  const paid = (isEnd ? rowsBeforeUnpaid : affordableRows)(outcomes, granted, owned);
  return payInPart(context, batch, chunk, rows, { limitedBy, paid, reservationId });
}

/** True where an export ends: at its own limit. A list waits there until it is raised. */
function isEndOfExport({ kind }: Batch, limitedBy: Shortage): boolean {
  return kind === 'export' && limitedBy === 'max_credits';
}

/**
 * Cuts the part to the first `paid` rows. The others wait, and the batch pauses; at the end of an export they are
 * not processed.
 */
async function payInPart(
  context: JobContext,
  batch: Batch,
  chunk: ClaimedChunk,
  rows: RowsToPay,
  {
    limitedBy,
    paid,
    reservationId,
  }: { limitedBy: Shortage; paid: number; reservationId: number | null },
): Promise<Paid | undefined> {
  const { outcomes, isOnce } = rows;
  if (isEndOfExport(batch, limitedBy)) {
    return { outcomes: cutOutcomes(outcomes, paid), reservationId, shortOf: null };
  }
  if (paid === 0) {
    await releaseUnpaid(context, batch, chunk, rows, limitedBy);
    return undefined;
  }
  const cut = { outcomes: outcomes.slice(0, paid), reservationId };
  // The others may cost nothing by the time of the commit: the next part finds out.
  if (isOnce) return { ...cut, shortOf: null };
  countShortage(limitedBy);
  return { ...cut, shortOf: limitedBy };
}

/** Pauses the batch of a chunk of which no row can be paid, unless its rows are to be priced again. */
async function releaseUnpaid(
  { sql }: JobContext,
  batch: Batch,
  chunk: ClaimedChunk,
  { outcomes, owned, isOnce }: RowsToPay,
  pauseFor: Shortage,
): Promise<void> {
  const people = isOnce ? chargedRecords(outcomes, owned) : [];
  const isPaused = await inTransaction(sql, async (tx) => {
    // Under the lock of the batch, so that none of its parts is committed in between.
    const reserved = isOnce ? await lockReserved(tx, batch.id) : 0;
    const isOutdated = reserved > 0 || (await findOwned(tx, batch, people)).size > 0;
    const why: Release = isOutdated
      ? { waits: 'price' }
      : { pauseFor, price: priceOf(batch.operation) };
    await releaseChunk(tx, chunk, why);
    return !isOutdated;
  });
  countPart(isPaused ? 'unpaid' : 'repeated');
  if (isPaused) countShortage(pauseFor);
}

function countShortage(shortage: Shortage): void {
  const bucket = refusedBy[shortage];
  if (bucket !== null) countRefusal(bucket);
}

/** The refusals that a shortage counts as; a list at its own limit was refused nothing. */
const refusedBy = {
  insufficient_credits: 'wallet',
  key_budget: 'key_budget',
  max_credits: null,
} as const;
