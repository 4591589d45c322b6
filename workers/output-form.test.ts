import { expect, test } from 'vitest';
import { enrichedName, formOf } from './output-form.ts';

test.each([
  ['out.csv', {}, 'csv', 'false'],
  ['out.CSV.gz', {}, 'csv', 'true'],
  ['a.b/out.jsonl', {}, 'jsonl', 'false'],
  ['out.ndjson', {}, 'jsonl', 'false'],
  ['out.xlsx', {}, 'xlsx', 'false'],
  ['out.csv', { format: 'csv-safe' }, 'csv-safe', 'false'],
  ['out', { format: 'xlsx', gzip: true }, 'xlsx', 'true'],
  ['out.txt', {}, 'csv', 'false'],
])('%s with %o is written as %s, gzip %s', (file, options, format, gzip) => {
  expect(formOf(file, options)).toEqual({ format, gzip });
});

test.each([
  ['out.xlsx', { format: 'csv' }, '--format csv does not fit out.xlsx'],
  ['out.csv', { format: 'jsonl' }, '--format jsonl does not fit out.csv'],
  ['out.csv', { format: 'json' }, '--format: json is unknown'],
])('%s with %o is refused', (file, options, message) => {
  expect(() => formOf(file, options)).toThrow(message);
});

test('a file without a telling name has the given form', () => {
  expect(formOf('people', {}, 'jsonl').format).toBe('jsonl');
  expect(formOf('people.xlsx', {}, 'jsonl').format).toBe('xlsx');
});

test.each([
  ['lists/crn.xlsx', {}, 'lists/crn.enriched.xlsx'],
  ['list.csv.gz', {}, 'list.enriched.csv.gz'],
  ['list.tsv', {}, 'list.enriched.csv'],
  ['Q3.final list', {}, 'Q3.final list.enriched.csv'],
  ['list', {}, 'list.enriched.csv'],
  ['crn.xlsx', { format: 'jsonl' }, 'crn.enriched.jsonl'],
  ['list.csv', { format: 'csv-safe', gzip: true }, 'list.enriched.csv.gz'],
])('the result of %s with %o is %s', (file, options, output) => {
  expect(enrichedName(file, options)).toBe(output);
  expect(() => formOf(output, options)).not.toThrow();
});
