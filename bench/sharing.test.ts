import { expect, test } from 'vitest';
import { evennessOf } from './sharing.ts';

test('even shares give 1, all for one of n gives 1/n, and nothing for all gives 0', () => {
  expect(evennessOf([7, 7, 7, 7])).toBe(1);
  expect(evennessOf([7, 0, 0, 0])).toBe(0.25);
  expect(evennessOf([1, 2])).toBe(0.9);
  expect(evennessOf([0, 0])).toBe(0);
});
