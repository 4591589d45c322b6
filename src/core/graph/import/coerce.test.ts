import { describe, expect, it } from 'vitest';
import {
  coerceDate,
  coerceGender,
  coerceGeo,
  coerceInt4,
  coercePhone,
  coerceReferences,
  coerceTexts,
  coerceTimestamp,
  dropped,
  Unreadable,
} from './coerce.ts';

describe('timestamps', () => {
  it.each([
    ['2024-01-31T12:00:00', '2024-01-31T12:00:00'],
    ['2024-01-31 12:00', '2024-01-31T12:00:00'],
    ['2024-01-31', '2024-01-31T00:00:00'],
    ['2024-01-31T12:00:00.999Z', '2024-01-31T12:00:00'],
    ['2024-01-31T23:30:00-02:00', '2024-02-01T01:30:00'],
    ['2024-02-29T00:00:00+0530', '2024-02-28T18:30:00'],
  ])('reads %s as %s', (given, expected) => {
    expect(coerceTimestamp(given)).toBe(expected);
  });

  it.each(['2023-02-29', '2024-13-01', 'yesterday', '2024-01-31T25:00:00', 1706702400])(
    'refuses %s',
    (given) => {
      expect(coerceTimestamp(given)).toEqual(new Unreadable('not_a_timestamp'));
    },
  );

  it('refuses times that need another number of year digits', () => {
    expect(coerceTimestamp('9999-12-31T23:30:00-02:00')).toEqual(new Unreadable('out_of_range'));
  });

  it('reads days', () => {
    expect(coerceDate('1958-10-13')).toBe('1958-10-13');
    expect(coerceDate('1958-10')).toEqual(new Unreadable('not_a_date'));
  });
});

it('reads whole numbers, from text too, inside the range of the column', () => {
  expect(coerceInt4(' 12 ')).toBe(12);
  expect(coerceInt4(33.0)).toBe(33);
  expect(Object.is(coerceInt4(-0), 0)).toBe(true);
  expect(coerceInt4(1.5)).toEqual(new Unreadable('not_an_integer'));
  expect(coerceInt4('1e3')).toEqual(new Unreadable('not_an_integer'));
  expect(coerceInt4(3_000_000_000)).toEqual(new Unreadable('out_of_range'));
});

it('keeps E.164 numbers, reads national ones by region, and drops the rest', () => {
  expect(coercePhone('+12022243441', {})).toBe('+12022243441');
  expect(coercePhone('020 7946 0958', { region: 'GB' })).toBe('+442079460958');
  expect(coercePhone("+1+cmd|' /C calc'!A0", {})).toBe(dropped);
});

it('reads geo points in range', () => {
  expect(coerceGeo('38.89511, -77.03637')).toBe('38.89511,-77.03637');
  expect(coerceGeo('91,0')).toBe(dropped);
  expect(coerceGeo('=1,2')).toBe(dropped);
});

it('reads genders by word, letter and code', () => {
  expect(['Male', 'f', 2].map((value) => coerceGender(value))).toEqual([
    'male',
    'female',
    'female',
  ]);
  expect(coerceGender('x')).toBe(dropped);
});

it('reads lists from JSON and from CSV cells', () => {
  expect(coerceTexts(['a', '', 'b'])).toEqual(['a', 'b']);
  expect(coerceTexts('a | b')).toEqual(['a', 'b']);
  expect(coerceTexts('["a|b"]')).toEqual(['a|b']);
  expect(coerceReferences('[{"id":1,"name":"x","y":2}]')).toBe('[{"id":1,"name":"x"}]');
  expect(coerceReferences([1])).toEqual(new Unreadable('not_a_list_of_references'));
});
