import { expect, test } from 'vitest';
import { sayKind, sayReason } from './words.ts';

test('a row without a name is told what it lacks by what its list is about', () => {
  expect(sayReason('empty_name', 'person')).toBe('no person in the row');
  expect(sayReason('empty_name', 'company')).toBe('no company in the row');
  expect(sayReason('no_identifier', 'person')).toBe('nothing to match on');
  expect(sayReason('new_reason', 'person')).toBe('new reason');
});

test('what a row matched on is told in words', () => {
  expect(sayKind('email name_company')).toBe('Email, Name and company or place');
  expect(sayKind('decision')).toBe('Your decision');
});
