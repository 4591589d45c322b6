import { expect, test } from 'vitest';
import { sayAgreement } from './agreement-notes.ts';

test('names agree in a share of the matches that have one to compare', () => {
  expect(sayAgreement({ yes: 9, no: 1, unknown: 90 }, false)).toEqual([
    'Names agree in 90% of the 10 matches with a name to compare.',
    'Names differ in 1 row.',
    '90 matches can’t be compared.',
  ]);
  expect(sayAgreement({ yes: 3 }, false)).toEqual([
    'Names agree in 100% of the 3 matches with a name to compare. No conflicts found.',
  ]);
});

test('a list without names has nothing to say about them', () => {
  expect(sayAgreement({ unknown: 90 }, false)).toEqual([]);
  expect(sayAgreement({}, false)).toEqual([]);
});

test('of matches that must agree those are told that were skipped', () => {
  expect(sayAgreement({ yes: 9, no: 12, unknown: 1 }, true)).toEqual([
    '1 match can’t be compared.',
    '12 matches whose name differs were skipped.',
  ]);
  expect(sayAgreement({ yes: 9 }, true)).toEqual([
    'Matches whose name differs were skipped. Their number is not shown.',
  ]);
});
