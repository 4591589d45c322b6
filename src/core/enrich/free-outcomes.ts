/**
 * Limits what the outcomes of rows may reveal about the people of the graph where they cost nothing. Decided here, once,
 * for calls and lists; the reasons are in docs/threat-model.md, "What a free response may reveal". Pure.
 */
import { FEW } from '../search/free-responses.ts';
import type { Outcome } from './enrich-many.ts';

/** The price of a list as disclosed before payment. */
export interface DisclosedQuote {
  /** Rows of each outcome; only those without a readable identifier when few rows match. */
  rows: Record<string, number>;
  /** Of the matched rows, those that cost nothing because the account owns the person; 0 where few rows match. */
  owned: number;
  credits: number;
  credits_is: 'exact' | 'at_most';
}

/**
 * Returns the price of a list from its counts of each outcome, and of the matched rows that cost nothing: exact, unless
 * fewer than ten rows match. Among few rows, a repeated one would reveal that two identifiers belong to one person.
 */
export function discloseQuote(
  counts: Readonly<Record<string, number>>,
  owned: number,
  price: number,
): DisclosedQuote {
  const { matched = 0, invalid = 0 } = counts;
  if (matched >= FEW) {
    const credits = (matched - owned) * price;
    return { rows: { ...counts }, owned, credits, credits_is: 'exact' };
  }
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const credits = Math.min(FEW - 1, rows - invalid) * price;
  return { rows: { invalid }, owned: 0, credits, credits_is: credits === 0 ? 'exact' : 'at_most' };
}

/**
 * Returns how many rows agree with their records, for a list whose disagreeing rows are misses and cost nothing.
 * Rows that disagree are counted only when they are at least ten and at most a fifth of them and the charged
 * matches together. A list made to probe who is stored would have to pay for four times as many.
 */
export function discloseAgreement(
  agrees: Readonly<Record<string, number>>,
  { matched, owned }: { matched: number; owned: number },
): Record<string, number> {
  const { no = 0, ...others } = agrees;
  return no >= FEW && no * 4 <= matched - owned ? { ...others, no } : others;
}

/** Rows that are sent together and may name the same record without a payment: a list of contacts rarely has more. */
const UNPAID_DISCLOSURES_MAX = 3;

/**
 * Returns the outcomes of rows that were sent together, as far as they may be disclosed for the number of charged matches.
 * An ambiguous row with a guessed city, title or company answers a question about each person who fits, and so does a miss
 * among ambiguous rows. So a record is named in three such rows, and in as many more as matches were charged; and of all
 * such rows as many are disclosed as matches were charged, and `unpaidMax` more. The others become misses. A name alone
 * reveals only how many share it.
 */
export function discloseAmbiguous<One extends Outcome | undefined>(
  outcomes: readonly One[],
  charged: number,
  unpaidMax = Number.POSITIVE_INFINITY,
): readonly (One | Outcome)[] {
  if (countDisclosed(outcomes) === 0) return outcomes;
  let leftOfRecords = charged;
  let left = charged + unpaidMax;
  const disclosures = new Map<number, number>();
  return outcomes.map((outcome) => {
    const { undisclosed, candidates = [] } = outcome?.likely ?? {};
    if (undisclosed === undefined) return outcome;
    const ids = candidates.map(({ id }) => id);
    const isRepeated = ids.some((id) => (disclosures.get(id) ?? 0) >= UNPAID_DISCLOSURES_MAX);
    if ((isRepeated && --leftOfRecords < 0) || --left < 0) return undisclosed;
    for (const id of ids) disclosures.set(id, (disclosures.get(id) ?? 0) + 1);
    return outcome;
  });
}

/**
 * Returns the outcome as it may be disclosed for free. Only a charged match shows whether another identifier of the row is
 * stored: next to an identifier of a person who is paid for already, a million others could be tested for free.
 */
export function withoutConflict(outcome: Outcome): Outcome {
  return outcome.conflict ? { ...outcome, conflict: false } : outcome;
}

/** Returns how many ambiguous rows `discloseAmbiguous` has disclosed beyond the charged matches. */
export function countUnpaidDisclosures(
  disclosed: readonly (Outcome | undefined)[],
  charged: number,
): number {
  return Math.max(0, countDisclosed(disclosed) - charged);
}

/** Counts the ambiguous rows that are not misses instead. */
function countDisclosed(outcomes: readonly (Outcome | undefined)[]): number {
  let count = 0;
  for (const one of outcomes) if (one?.likely?.undisclosed !== undefined) count++;
  return count;
}

/**
 * Returns true when the candidates of a list's ambiguous rows may be described: the list was charged for as many matches
 * as it has ambiguous rows. In test mode nothing is charged, and matches count.
 */
export function mayDescribeCandidates(list: {
  matched: number;
  owned: number;
  ambiguous: number;
}): boolean {
  return list.matched - list.owned >= list.ambiguous;
}
