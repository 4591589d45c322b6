import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { expect, it } from 'vitest';
import { normaliseIdentifier } from '../../../src/core/identifiers/identifier.ts';
import { drawNumber } from '../draw-number.ts';
import { countries, type PhonePrefixes } from './places.ts';

const samplesPerPrefix = 40;

it('has phone prefixes under which every number is valid in its country', () => {
  for (const country of countries) {
    for (const number of [...numbersOf(country.fixed), ...numbersOf(country.mobile)]) {
      const parsed = parsePhoneNumberFromString(number);
      expect(`${number} ${parsed?.isValid()} ${parsed?.country}`).toBe(
        `${number} true ${country.iso2}`,
      );
      expect(normaliseIdentifier('phone', number, { subject: 'person' })).toEqual({
        values: [number],
      });
    }
  }
});

it('has each country and region once, and valid coordinates', () => {
  expect(new Set(countries.map((country) => country.iso2)).size).toBe(countries.length);
  for (const country of countries) {
    const cities = country.cities.split('\n').map((line) => line.split('|'));
    expect(new Set(cities.map(([name]) => name)).size).toBe(cities.length);
    for (const [, region, latitude, longitude] of cities) {
      expect(region).not.toBe('');
      expect(Math.abs(Number(latitude))).toBeLessThan(90);
      expect(Math.abs(Number(longitude))).toBeLessThan(180);
    }
  }
});

function* numbersOf({ prefixes, digits }: PhonePrefixes): Generator<string> {
  for (const [place, prefix] of prefixes.split(' ').entries()) {
    for (let n = 0; n < samplesPerPrefix; n += 1) {
      yield prefix + String(drawNumber(place, n, 10 ** digits)).padStart(digits, '0');
    }
    yield prefix + '0'.repeat(digits);
    yield prefix + '9'.repeat(digits);
  }
}
