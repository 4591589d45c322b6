/** What a limited number of paid matches means for the rows of a chunk. Pure. */
import { miss, type Outcome } from '../../core/enrich/enrich-many.ts';
import { outcomeStatuses } from '../../core/enrich/outcomes.ts';
import type { OutcomeCounts } from './commit-part.sql.ts';

/**
 * Rows up to and with the last match that is paid; all of them where every match is. The misses behind it wait
 * too: where they ended would tell for nothing which row matches next.
 */
export function affordableRows(outcomes: readonly Outcome[], granted: number): number {
  let matches = 0;
  let rows = 0;
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status !== 'matched') continue;
    if (matches === granted) return rows;
    matches++;
    rows = index + 1;
  }
  return outcomes.length;
}

/** At the batch's own limit: the rows behind the first `rows` are not processed. */
export function cutOutcomes(outcomes: readonly Outcome[], rows: number): Outcome[] {
  return outcomes.map((outcome, index) =>
    index < rows ? outcome : miss('not_processed', '', 'max_credits'),
  );
}

/** How many rows came to each outcome. */
export function countOutcomes(outcomes: readonly Outcome[]): OutcomeCounts {
  const counts = Object.fromEntries(outcomeStatuses.map((s) => [s, 0])) as OutcomeCounts;
  for (const { status } of outcomes) counts[status]++;
  return counts;
}
