import { expect, test } from 'vitest';
import { type MeasuredRow, measureLikely } from './measure.ts';

function row(given: Partial<MeasuredRow>): MeasuredRow {
  const expected = given.expected ?? 0;
  const fits = new Set([expected]);
  return { status: 'no_match', id: 0, probability: 0, expected, fits, kind: '', ...given };
}

test('precision counts matches, recall the rows that should match, and ambiguous rows count apart', () => {
  const measured = measureLikely([
    row({ status: 'matched', id: 1, expected: 1, probability: 0.99 }),
    row({ status: 'matched', id: 2, expected: 1, probability: 0.99 }),
    row({ status: 'matched', id: 3, probability: 0.97 }),
    row({ expected: 4 }),
    row({ status: 'ambiguous', id: 5, probability: 0.5, kind: 'ambiguous', fits: new Set([5, 6]) }),
    row({ kind: 'ambiguous' }),
  ]);
  expect(measured).toMatchObject({
    precision: 0.3333,
    recall: 0.3333,
    wrong: { other_record: 1, no_match: 1, ambiguous: 0 },
    ambiguous: { rows: 2, told: 1, share: 0.5 },
  });
});

test('a probability that means what it says has no error, and one of two that fit is half right', () => {
  const told = row({
    status: 'ambiguous',
    id: 5,
    probability: 0.5,
    kind: 'ambiguous',
    fits: new Set([5, 6]),
  });
  const sure = (right: boolean) =>
    row({ status: 'matched', id: 1, expected: right ? 1 : 2, probability: 0.75 });
  expect(measureLikely([told, told]).calibration_error).toBe(0);
  expect(measureLikely([true, true, true, false].map(sure)).calibration_error).toBe(0);
  expect(measureLikely([true, false].map(sure)).calibration_error).toBe(0.25);
});
