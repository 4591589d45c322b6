/**
 * From levels to a probability: a sum of integer weights (Fellegi and Sunter: the logarithm of how much likelier a level
 * is for the same record than for another), the share of the best candidate among all, and a monotone table that was
 * calibrated on labelled rows. Pure; the same numbers give the same probability on every machine.
 */
import type { AddLevel } from './levels.ts';

/** A table of one kind of record: see `weights.ts`. */
export interface ScoreModel {
  /** Thousandths of a natural logarithm, by level. */
  weights: Readonly<Record<string, number>>;
  /** Per class of comparison: hundredths of log-odds, and ten-thousandths of a probability, both ascending. */
  calibration: Readonly<Record<string, readonly (readonly [score: number, probability: number])[]>>;
}

const THOUSANDTHS = 1000;
const SCORE_MAX = 20;

/** Returns the sum of the weights of the levels that `tell` adds: log-odds that both are of one record. */
export function scoreOf(model: ScoreModel, tell: (add: AddLevel) => void): number {
  let sum = 0;
  tell((name, amount) => {
    sum += Math.round((model.weights[name] ?? 0) * amount);
  });
  return Math.max(-SCORE_MAX, Math.min(SCORE_MAX, sum / THOUSANDTHS));
}

/** Returns the share of each candidate in the odds of all and of none, by their scores. */
export function sharesOf(scores: readonly number[]): number[] {
  const odds = scores.map(Math.exp);
  const all = odds.reduce((sum, one) => sum + one, 1);
  return odds.map((one) => one / all);
}

const SHARE_MIN = 1e-6;
const HUNDREDTHS = 100;
const TEN_THOUSANDTHS = 10_000;

/** Returns the log-odds of a share, as calibrated. */
export function logOddsOf(share: number): number {
  const bounded = Math.max(SHARE_MIN, Math.min(1 - SHARE_MIN, share));
  return Math.log(bounded / (1 - bounded));
}

/** Returns the probability that calibration found for a share in its class: between 0 and 1, in ten-thousandths. */
export function calibrate(model: ScoreModel, className: string, share: number): number {
  const table = model.calibration[className] ?? [];
  const score = logOddsOf(share) * HUNDREDTHS;
  let [before] = table;
  if (before === undefined) return 0;
  if (score <= before[0]) return before[1] / TEN_THOUSANDTHS;
  for (const point of table) {
    if (score <= point[0]) {
      const part = (score - before[0]) / Math.max(1, point[0] - before[0]);
      return Math.round(before[1] + part * (point[1] - before[1])) / TEN_THOUSANDTHS;
    }
    before = point;
  }
  return before[1] / TEN_THOUSANDTHS;
}
