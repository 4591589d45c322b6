import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countryCode, countryOfPlace } from './country.ts';
import { readVectors } from './vectors/normaliser.test-suite.ts';

test.each(readVectors('country.valid.txt'))('$text is $expected', ({ text, expected }) => {
  expect(countryCode(text)).toBe(expected);
});

test.each(readVectors('country.invalid.txt'))('$text is not a country', ({ text }) => {
  expect(countryCode(text)).toBeNull();
});

test.each([
  ['Leeds, England, United Kingdom', 'GB'],
  ['Munich, Bavaria, DE', 'DE'],
  ['London, UK', 'GB'],
  ['Oslo, Norway', 'NO'],
  ['Germany', 'DE'],
  ['San Francisco, CA', null],
  ['Wilmington, de', null],
  ['Atlanta, Georgia', null],
  ['IN', null],
  ['', null],
])('%s is a place of %s: a code or a name that regions have too says nothing', (place, country) => {
  expect(countryOfPlace(place)).toBe(country);
});

test('every text gives a country code or null, and a code gives itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const code = countryCode(text);
      if (code !== null) expect(countryCode(code)).toBe(code);
    }),
  );
  expect(countryCode('a'.repeat(1_000_000))).toBeNull();
});
