/**
 * Decides from the scores of a row's candidates: matched, ambiguous or no match. Never guesses: a match needs its
 * probability, which a second candidate that fits as well halves. Pure, for rows and for cross-validation alike.
 */
import { calibrate, type ScoreModel, sharesOf } from './score.ts';

/** A record that may be a row's. */
export interface ScoredCandidate {
  id: number;
  score: number;
  className: string;
  /**
   * False for one that a row may not match, only be ambiguous with others for: where nothing but the name could be compared, or
   * the row states a company of another law.
   */
  mayMatch: boolean;
}

export interface Decision<Candidate> {
  status: 'matched' | 'ambiguous' | 'no_match';
  /** Code of why there is no match, or ''. */
  reason: '' | 'not_found' | 'several_fit' | 'name_too_common';
  /** All candidates, the best first. */
  ranked: Candidate[];
  /** Their shares in the odds, in the same order. */
  shares: number[];
  /** Probability of the best one; 0 without any. */
  probability: number;
}

/** From this share on some candidate is the record, though it may not be told which. */
const AMBIGUOUS_SHARE = 0.5;
/** A candidate of less is not shown. */
export const SHOWN_SHARE = 0.05;

/** Decides a row. `isCut` is true when more records exist than were compared. */
export function decide<Candidate extends ScoredCandidate>(
  model: ScoreModel,
  { candidates, isCut }: { candidates: readonly Candidate[]; isCut: boolean },
  minProbability: number,
): Decision<Candidate> {
  // Equal scores in the order of ids, so that the same list gives the same bytes.
  const ranked = [...candidates].sort((a, b) => b.score - a.score || a.id - b.id);
  const shares = sharesOf(ranked.map(({ score }) => score));
  const [best] = ranked;
  const probability = best === undefined ? 0 : calibrate(model, best.className, shares[0] ?? 0);
  const of = (status: Decision<Candidate>['status'], reason: Decision<Candidate>['reason']) => ({
    status,
    reason,
    ranked,
    shares,
    probability,
  });
  // Of people, a name alone matches none; several of that name make the row ambiguous.
  if (best?.mayMatch === true && probability >= minProbability) return of('matched', '');
  const some = shares.reduce((sum, one) => sum + one, 0);
  // One candidate that is not likely enough is a miss: a free response must not reveal that a record is stored.
  const isOne = some < AMBIGUOUS_SHARE || (shares[1] ?? 0) < SHOWN_SHARE;
  if (!isOne) return of('ambiguous', 'several_fit');
  return isCut ? of('ambiguous', 'name_too_common') : of('no_match', 'not_found');
}
