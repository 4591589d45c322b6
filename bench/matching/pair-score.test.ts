import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bestThreshold, f1Of } from './pair-score.ts';

const pairs = fc.array(
  fc.record({ score: fc.integer({ min: -3, max: 3 }), isSame: fc.boolean() }),
  {
    minLength: 1,
  },
);

function f1At(all: readonly { score: number; isSame: boolean }[], threshold: number): number {
  return f1Of(all.map(({ score, isSame }) => ({ isSame, isMatch: score >= threshold }))).f1;
}

test('no other threshold has a better F1', () => {
  const isBest = fc.property(pairs, (all) => {
    const best = f1At(all, bestThreshold(all));
    for (let threshold = -4; threshold <= 4; threshold++) {
      expect(f1At(all, threshold)).toBeLessThanOrEqual(best + 1e-12);
    }
  });
  fc.assert(isBest);
});

test('F1 is that of precision and recall', () => {
  const told = [
    { isSame: true, isMatch: true },
    { isSame: true, isMatch: true },
    { isSame: true, isMatch: false },
    { isSame: false, isMatch: true },
    { isSame: false, isMatch: false },
  ];
  const { precision, recall, f1 } = f1Of(told);
  expect([precision, recall]).toEqual([2 / 3, 2 / 3]);
  expect(f1).toBeCloseTo(2 / 3);
});
