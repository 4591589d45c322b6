import { expect, test } from 'vitest';
import { decide, type ScoredCandidate } from './decide.ts';
import { personModel } from './weights.ts';

const candidate = (id: number, score: number, mayMatch = true): ScoredCandidate => {
  return { id, score, className: mayMatch ? 'company' : 'no_company', mayMatch };
};

function decided(candidates: readonly ScoredCandidate[], { isCut = false, min = 0.95 } = {}) {
  const { status, reason, ranked } = decide(personModel, { candidates, isCut }, min);
  return [status, reason, ranked.map(({ id }) => id)];
}

test('one record that surely fits is the match', () => {
  expect(decided([candidate(1, -5), candidate(2, 12)])).toEqual(['matched', '', [2, 1]]);
});

test('a name alone matches no person, whatever probability is asked for', () => {
  expect(decided([candidate(1, 20, false)], { min: 0 })).toEqual(['no_match', 'not_found', [1]]);
});

test('two that fit equally are ambiguous, in the order of their ids', () => {
  const both = [candidate(8, 12), candidate(7, 12)];
  expect(decided(both)).toEqual(['ambiguous', 'several_fit', [7, 8]]);
});

test('one record that is not likely enough is told from no other miss', () => {
  expect(decided([candidate(1, -1)])).toEqual(['no_match', 'not_found', [1]]);
  expect(decided([])).toEqual(['no_match', 'not_found', []]);
});

test('a name of more records than were compared is ambiguous, when none of them surely fits', () => {
  const cut = { isCut: true };
  expect(decided([candidate(1, -1)], cut)).toEqual(['ambiguous', 'name_too_common', [1]]);
  expect(decided([candidate(1, 12)], cut)).toEqual(['matched', '', [1]]);
});
