import { expect, test } from 'vitest';
import { editDistance } from './edit-distance.ts';

test.each([
  ['london', 'london', 2, 0],
  ['londn', 'london', 2, 1],
  ['lodnon', 'london', 2, 1],
  ['londonn', 'london', 2, 1],
  ['lindon', 'london', 2, 1],
  ['olndno', 'london', 2, 2],
  ['', 'ab', 2, 2],
  ['abc', 'xyz', 2, 3],
  ['a', 'abcdef', 2, 3],
  ['𝒜b', 'b𝒜', 1, 1],
])('%s to %s (counted up to %i): %i', (left, right, max, distance) => {
  expect(editDistance(left, right, max)).toBe(distance);
  expect(editDistance(right, left, max)).toBe(distance);
});
