/** Fits the weights of levels: logistic regression, whose weights are log-odds and so those of Fellegi and Sunter. */

/** Name of a level, and how much of it there is. */
export type Levels = [name: string, amount: number][];

/** A comparison of a row with a candidate, and how far it is the row's record. */
export interface Example {
  levels: Levels;
  isSame: boolean;
  /** Less than 1 when several candidates fit one row. */
  weight: number;
}

const ROUNDS_MAX = 30;
const STEP_MIN = 1e-6;

interface ReadExample {
  at: number[];
  amounts: number[];
  target: number;
  weight: number;
}

/**
 * Returns the weight of each level, in natural logarithms, by Newton's method; `penalty` keeps weights small. The same
 * examples give the same weights.
 */
export function fitWeights(examples: readonly Example[], penalty: number): Map<string, number> {
  const places = new Map<string, number>();
  const read = examples.map(({ levels, isSame, weight }): ReadExample => {
    const at = levels.map(([name]) => {
      const known = places.get(name) ?? places.size;
      places.set(name, known);
      return known;
    });
    return { at, amounts: levels.map(([, amount]) => amount), target: Number(isSame), weight };
  });
  const weights = new Float64Array(places.size);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const { slope, curve } = differentiate(read, weights, penalty);
    const step = solve(curve, slope);
    let longest = 0;
    for (const [place, one] of step.entries()) {
      weights[place] = (weights[place] ?? 0) - one;
      longest = Math.max(longest, Math.abs(one));
    }
    if (longest < STEP_MIN) break;
  }
  return new Map([...places].map(([name, place]) => [name, weights[place] ?? 0]));
}

/** First and second derivatives of the loss. */
function differentiate(
  read: readonly ReadExample[],
  weights: Float64Array,
  penalty: number,
): { slope: Float64Array; curve: Float64Array[] } {
  const count = weights.length;
  const slope = weights.map((weight) => penalty * weight);
  const curve = Array.from({ length: count }, (_, place) => {
    const row = new Float64Array(count);
    row[place] = penalty;
    return row;
  });
  for (const { at, amounts, target, weight } of read) {
    let score = 0;
    for (let index = 0; index < at.length; index++) {
      score += (weights[at[index] ?? 0] ?? 0) * (amounts[index] ?? 0);
    }
    const chance = 1 / (1 + Math.exp(-score));
    const error = (chance - target) * weight;
    const bend = Math.max(1e-9, chance * (1 - chance)) * weight;
    for (let index = 0; index < at.length; index++) {
      const place = at[index] ?? 0;
      const amount = amounts[index] ?? 0;
      slope[place] = (slope[place] ?? 0) + error * amount;
      const row = curve[place];
      if (row === undefined) continue;
      for (let other = 0; other < at.length; other++) {
        const column = at[other] ?? 0;
        row[column] = (row[column] ?? 0) + bend * amount * (amounts[other] ?? 0);
      }
    }
  }
  return { slope, curve };
}

/** Solves the equations of a positive definite matrix by elimination; changes both. */
function solve(matrix: Float64Array[], right: Float64Array): Float64Array {
  const count = right.length;
  for (let pivot = 0; pivot < count; pivot++) {
    const row = matrix[pivot];
    const diagonal = row?.[pivot] ?? 1;
    for (let below = pivot + 1; below < count; below++) {
      const other = matrix[below];
      if (row === undefined || other === undefined) continue;
      const factor = (other[pivot] ?? 0) / diagonal;
      if (factor === 0) continue;
      for (let column = pivot; column < count; column++) {
        other[column] = (other[column] ?? 0) - factor * (row[column] ?? 0);
      }
      right[below] = (right[below] ?? 0) - factor * (right[pivot] ?? 0);
    }
  }
  const solution = new Float64Array(count);
  for (let place = count - 1; place >= 0; place--) {
    let sum = right[place] ?? 0;
    for (let column = place + 1; column < count; column++) {
      sum -= (matrix[place]?.[column] ?? 0) * (solution[column] ?? 0);
    }
    solution[place] = sum / (matrix[place]?.[place] ?? 1);
  }
  return solution;
}

/** Weights as stored: thousandths, in the order of their names. */
export function roundWeights(weights: ReadonlyMap<string, number>): Record<string, number> {
  const sorted = [...weights].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, weight]) => [name, Math.round(weight * 1000)]));
}
