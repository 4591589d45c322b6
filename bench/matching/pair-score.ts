/** F1 of labelled pairs, and the threshold at which it is best. Pure. */

/** A pair with its score, and the truth. */
export interface ScoredPair {
  score: number;
  isSame: boolean;
}

/** Returns the score from which on calling pairs the same gives the best F1; of equals the highest. */
export function bestThreshold(pairs: readonly ScoredPair[]): number {
  const sorted = [...pairs].sort((a, b) => b.score - a.score);
  const same = sorted.filter(({ isSame }) => isSame).length;
  let right = 0;
  let best = { f1: -1, score: Number.POSITIVE_INFINITY };
  for (const [index, { score, isSame }] of sorted.entries()) {
    if (isSame) right += 1;
    // Pairs of one score are all called the same, or none of them is.
    if (sorted[index + 1]?.score === score) continue;
    const f1 = (2 * right) / (index + 1 + same);
    if (f1 > best.f1) best = { f1, score };
  }
  return best.score;
}

/** Returns precision, recall and F1 of pairs that were called the same or not. */
export function f1Of(pairs: readonly { isSame: boolean; isMatch: boolean }[]): {
  precision: number;
  recall: number;
  f1: number;
} {
  const matched = pairs.filter(({ isMatch }) => isMatch);
  const right = matched.filter(({ isSame }) => isSame).length;
  const same = pairs.filter(({ isSame }) => isSame).length;
  const ratio = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
  return {
    precision: ratio(right, matched.length),
    recall: ratio(right, same),
    f1: ratio(2 * right, matched.length + same),
  };
}
