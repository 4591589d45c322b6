/** Fits the table from scores to probabilities: isotonic regression, which assumes no shape but that more is more. */

/** A row's best candidate: its log-odds by the score, and how far it was right (1, 0, or a part of several that fit). */
export interface Judged {
  score: number;
  right: number;
}

/** Rows of one opinion that a block has from the start, so that few rows do not make certainty. */
const PRIOR_ROWS = 0.3;
const PRIOR_RIGHT = 0.5;

/** Returns points of hundredths of log-odds and ten-thousandths of a probability, both ascending. */
export function fitCalibration(judged: readonly Judged[]): [score: number, probability: number][] {
  const blocks: { from: number; to: number; right: number; rows: number }[] = [];
  for (const { score, right } of [...judged].sort((a, b) => a.score - b.score)) {
    blocks.push({ from: score, to: score, right, rows: 1 });
    for (let last = blocks.at(-1), before = blocks.at(-2); last && before; ) {
      if (before.right / before.rows < last.right / last.rows) break;
      before.to = last.to;
      before.right += last.right;
      before.rows += last.rows;
      blocks.pop();
      last = blocks.at(-1);
      before = blocks.at(-2);
    }
  }
  const points: [number, number][] = [];
  for (const { from, to, right, rows } of blocks) {
    const probability = (right + PRIOR_ROWS * PRIOR_RIGHT) / (rows + PRIOR_ROWS);
    const stored = Math.max(points.at(-1)?.[1] ?? 0, Math.round(probability * 10_000));
    for (const score of [from, to]) {
      const point: [number, number] = [Math.round(score * 100), stored];
      const last = points.at(-1);
      if (last?.[0] !== point[0] || last[1] !== point[1]) points.push(point);
    }
  }
  return points;
}
