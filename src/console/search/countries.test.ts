import { expect, test } from 'vitest';
import { countryCode } from '../../core/identifiers/country.ts';
import { countries, suggestCountries } from './countries.ts';

test('every country that is suggested is one that the service knows by this name', () => {
  expect(countries.length).toBeGreaterThan(240);
  for (const { code, name } of countries) expect(countryCode(name), name).toBe(code);
});

test.each([
  ['swit', 'Switzerland'],
  ['CH', 'Switzerland'],
  ['korea', 'North Korea'],
  ['turkiye', 'Türkiye'],
])('%s suggests %s', (text, name) => {
  expect(suggestCountries(text).map(({ label }) => label)).toContain(name);
});
