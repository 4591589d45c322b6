/** Outcomes that are assigned to a chunk's rows without processing them. */
import { miss, type Outcome } from '../../core/enrich/enrich-many.ts';
import { priceOf } from '../../core/operations.ts';
import type { Batch } from '../batch/batch.ts';
import type { ClaimedChunk } from './claim-chunk.sql.ts';

/** A single row that failed this often is given up. */
const ROW_FAILURES_MAX = 5;

/** The outcome assigned to every row of the part, or null to process them. */
export function forcedOutcome(batch: Batch, chunk: ClaimedChunk): Outcome | null {
  if (batch.state === 'cancelling') return miss('not_processed', '', 'cancelled');
  if (chunk.partRowsMax === 1 && chunk.failures >= ROW_FAILURES_MAX) {
    return miss('error', '', 'processing_failed');
  }
  return isAtLimit(batch) ? miss('not_processed', '', 'max_credits') : null;
}

/** True for an export that has spent its `max_credits`: its chunks run in order, so the people before have been paid. */
function isAtLimit({ kind, live, maxCredits, creditsCharged, operation }: Batch): boolean {
  if (kind !== 'export' || !live || maxCredits === null) return false;
  return maxCredits - creditsCharged < priceOf(operation);
}
