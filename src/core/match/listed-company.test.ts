import { expect, test } from 'vitest';
import { readListedCompany } from './listed-company.ts';

test.each([
  [' ', 'empty_name'],
  ['X', 'not_a_name'],
  ['😀', 'not_a_name'],
  ['test test', 'not_a_name'],
  ['N/A', 'not_a_name'],
  ['self-employed', 'not_a_name'],
  ['Inc.', 'not_a_name'],
  ['Limited', 'not_a_name'],
  ['sales@acme.example', 'not_a_name'],
  ['https://acme.example', 'not_a_name'],
  ['Nordlicht...', 'not_a_name'],
  ['Nord***', 'not_a_name'],
  ['Nordlicht '.repeat(41), 'name_too_long'],
])('%j is refused as %s', (text, reason) => {
  expect(readListedCompany(text)).toBe(reason);
});

test.each([
  'SAS',
  'AB',
  'Test Valley Ltd',
  'acme.example',
  '🏦 Bergkristall',
  'Anna Kowalska',
  'Nordlicht*',
  'Nordlicht GmbH**',
])('%s may be a company', (text) => {
  expect(readListedCompany(text)).toHaveProperty('words');
});
