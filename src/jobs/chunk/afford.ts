/** Cuts the rows of a chunk to the matches that can be paid. Pure. */
import { miss, type Outcome } from '../../core/enrich/enrich-many.ts';
import { outcomeStatuses } from '../../core/enrich/outcomes.ts';
import type { OutcomeCounts } from './commit-part.sql.ts';

/** The number of rows before the first match that is not paid. Rows at the indexes `owned` need no payment. */
export function rowsBeforeUnpaid(
  outcomes: readonly Outcome[],
  granted: number,
  owned: ReadonlySet<number>,
): number {
  let matches = 0;
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status !== 'matched' || owned.has(index)) continue;
    if (matches === granted) return index;
    matches++;
  }
  return outcomes.length;
}

/**
 * The number of rows up to and including the last paid match; all rows when every match is paid. Misses after
 * it wait too: their end would reveal for free which row matches next. Rows at the indexes `owned` need no payment.
 */
export function affordableRows(
  outcomes: readonly Outcome[],
  granted: number,
  owned: ReadonlySet<number>,
): number {
  let rows = rowsBeforeUnpaid(outcomes, granted, owned);
  if (rows === outcomes.length) return rows;
  const isFree = (index: number) => outcomes[index]?.status !== 'matched' || owned.has(index);
  while (rows > 0 && isFree(rows - 1)) rows--;
  return rows;
}

/** At the limit of an export: marks the rows after the first `rows` as not processed. */
export function cutOutcomes(outcomes: readonly Outcome[], rows: number): Outcome[] {
  return outcomes.map((outcome, index) =>
    index < rows ? outcome : miss('not_processed', '', 'max_credits'),
  );
}

export function countOutcomes(outcomes: readonly Outcome[]): OutcomeCounts {
  const counts = Object.fromEntries(outcomeStatuses.map((s) => [s, 0])) as OutcomeCounts;
  for (const { status } of outcomes) counts[status]++;
  return counts;
}
