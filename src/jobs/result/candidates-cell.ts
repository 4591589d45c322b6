/** The cell `match.candidates` of an ambiguous row: `<id>:<probability>` of each record that it may mean, best first. */
import type { LikelyCandidate } from '../../core/likely/find-likely.ts';

const PROBABILITY_DIGITS = 4;

/** A record that an ambiguous row may mean. */
export type RowCandidate = Pick<LikelyCandidate, 'id' | 'probability'>;

/** Writes the cell; empty for no candidate. */
export function encodeCandidates(candidates: readonly RowCandidate[]): string {
  return candidates
    .map(({ id, probability }) => `${id}:${probability.toFixed(PROBABILITY_DIGITS)}`)
    .join(' ');
}

export function readCandidates(cell: string): RowCandidate[] {
  return cell.split(' ').flatMap((one) => {
    const [id = '', probability] = one.split(':');
    return id === '' ? [] : [{ id: Number(id), probability: Number(probability) }];
  });
}
