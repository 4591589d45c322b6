import { expect, test } from 'vitest';
import { sayWidths } from './width-note.ts';

test('the fewer rows are said to differ from the others', () => {
  expect(sayWidths(60, 59)).toBe('1 row has more cells than the others.');
  expect(sayWidths(60, 2)).toBe('2 rows were shorter than the widest.');
  expect(sayWidths(60, 0)).toBeNull();
});

test('rows that are all shorter than their header are said to be short', () => {
  expect(sayWidths(60, 60)).toBe('60 rows were shorter than the widest.');
});
