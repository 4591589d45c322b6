import { expect, test } from 'vitest';
import type { Outcome } from '../../core/enrich/enrich-many.ts';
import type { OutcomeStatus } from '../../core/enrich/outcomes.ts';
import { affordableRows, countOutcomes, cutOutcomes, rowsBeforeUnpaid } from './afford.ts';
import { noRows } from './owned-rows.ts';

const outcomes = (...statuses: OutcomeStatus[]) =>
  statuses.map((status, id) => ({ status, id }) as unknown as Outcome);
const mixed = outcomes('no_match', 'matched', 'invalid', 'matched', 'ambiguous', 'matched');

test.each([
  [0, 0],
  [1, 2],
  [2, 4],
  [3, 6],
  [9, 6],
])(
  '%i paid matches cover the rows up to the last of them, not to the next match: %i',
  (granted, rows) => {
    expect(affordableRows(mixed, granted, noRows)).toBe(rows);
  },
);

test('a miss before the next match waits with it, whatever follows', () => {
  const rows = outcomes('matched', 'no_match', 'matched', 'matched');
  expect(affordableRows(rows, 1, noRows)).toBe(1);
});

test('rows without a match cost nothing, however many', () => {
  expect(affordableRows(outcomes('no_match', 'error', 'suppressed'), 0, noRows)).toBe(3);
  expect(affordableRows([], 0, noRows)).toBe(0);
});

test('at the batch’s own limit the rest is not processed, with the reason', () => {
  const cut = cutOutcomes(mixed, 2);
  expect(cut.slice(0, 2)).toEqual(mixed.slice(0, 2));
  expect(cut).toHaveLength(mixed.length);
  for (const outcome of cut.slice(2)) {
    expect(outcome).toMatchObject({ status: 'not_processed', by: '', reason: 'max_credits' });
  }
  expect(cutOutcomes(mixed, 6)).toEqual(mixed);
});

test('every outcome is counted once, and absent ones are 0', () => {
  expect(countOutcomes(mixed)).toEqual({
    matched: 3,
    no_match: 1,
    invalid: 1,
    ambiguous: 1,
    suppressed: 0,
    duplicate: 0,
    error: 0,
    not_processed: 0,
  });
});

test('owned matches need no payment, and those after the last paid match wait', () => {
  expect(affordableRows(mixed, 1, new Set([1]))).toBe(4);
  expect(affordableRows(mixed, 1, new Set([5]))).toBe(2);
  expect(affordableRows(mixed, 1, new Set([3, 5]))).toBe(6);
});

test('an export ends before the first match that is not paid, and has those before it that cost nothing', () => {
  expect([0, 1, 2, 3].map((granted) => rowsBeforeUnpaid(mixed, granted, noRows))).toEqual([
    ...[1, 3, 5, 6],
  ]);
  expect(rowsBeforeUnpaid(mixed, 1, new Set([3]))).toBe(5);
  expect(rowsBeforeUnpaid(mixed, 0, new Set([1, 3, 5]))).toBe(6);
});
