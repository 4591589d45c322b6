/** The next part of a chunk: its rows, and outcomes that are assigned to them without processing. */
import { miss, type Outcome } from '../../core/enrich/enrich-many.ts';
import type { Batch } from '../batch/batch.ts';
import type { ClaimedChunk } from './claim-chunk.sql.ts';

/** A single row that failed this often is given up. */
const ROW_FAILURES_MAX = 5;

/** Returns the number of rows of the next part: those that are left, up to its maximum. */
export function rowsOfPart({ rows, rowsDone, partRowsMax }: ClaimedChunk): number {
  return Math.min(rows - rowsDone, partRowsMax ?? rows);
}

/** Returns the outcomes assigned to the rows of the next part; null to process them. */
export function forcedOutcomes(batch: Batch, chunk: ClaimedChunk): Outcome[] | null {
  const outcome = forcedOutcome(batch, chunk);
  return outcome && new Array<Outcome>(rowsOfPart(chunk)).fill(outcome);
}

function forcedOutcome(batch: Batch, chunk: ClaimedChunk): Outcome | null {
  if (batch.state === 'cancelling') return miss('not_processed', '', 'cancelled');
  if (chunk.partRowsMax === 1 && chunk.failures >= ROW_FAILURES_MAX) {
    return miss('error', '', 'processing_failed');
  }
  return isAtLimit(batch) ? miss('not_processed', '', 'max_credits') : null;
}

/**
 * True for an export whose `max_credits` do not pay for everyone. Its chunks run in order, so the people before the limit are
 * in the file.
 */
function isAtLimit({ kind, notProcessed }: Batch): boolean {
  return kind === 'export' && notProcessed > 0;
}
