/** When a chunk's rows come to something without being looked at. */
import { miss, type Outcome } from '../../core/enrich/enrich-many.ts';
import type { Batch } from '../batch/batch.ts';
import type { ClaimedChunk } from './claim-chunk.sql.ts';

/** A row that failed so often when it was alone is given up. */
const ROW_FAILURES_MAX = 5;

/** What every row of the part comes to without looking at it, or null. */
export function forcedOutcome(batch: Batch, chunk: ClaimedChunk): Outcome | null {
  if (batch.state === 'cancelling') return miss('not_processed', '', 'cancelled');
  if (chunk.partRowsMax === 1 && chunk.failures >= ROW_FAILURES_MAX) {
    return miss('error', '', 'processing_failed');
  }
  return null;
}
