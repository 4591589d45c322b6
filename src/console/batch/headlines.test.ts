import { expect, test } from 'vitest';
import { headlinesOf } from './headlines.ts';

test('only columns that a match has are headlines', () => {
  const rates = { 'company.domain': 0, 'company.phone': 0.25, 'company.name': 1 };
  expect(headlinesOf('companies.enrich', rates)).toEqual([
    { column: 'company.phone', label: 'Phone', rate: 0.25 },
  ]);
  expect(headlinesOf('companies.logo', {})).toEqual([]);
});
