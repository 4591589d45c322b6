import fc from 'fast-check';
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
    ['2000-02-29T23:59:59', '2000-02-29T23:59:59'],
    ['2024-01-31 12:00', '2024-01-31T12:00:00'],
    ['2024-01-31', '2024-01-31T00:00:00'],
    ['2024-01-31T12:00:00.999Z', '2024-01-31T12:00:00'],
    ['2024-01-31T23:30:00-02:00', '2024-02-01T01:30:00'],
    ['2024-02-29T00:00:00+0530', '2024-02-28T18:30:00'],
  ])('reads %s as %s', (given, expected) => {
    expect(coerceTimestamp(given)).toBe(expected);
  });

  it.each([
    '2023-02-29',
    '1900-02-29T00:00:00',
    '2024-13-01',
    'yesterday',
    '2024-01-31T25:00:00',
    1706702400,
  ])('refuses %s', (given) => {
    expect(coerceTimestamp(given)).toEqual(new Unreadable('not_a_timestamp'));
  });

  it('reads every second of the calendar unchanged, and no other', () => {
    const digits = (max: number) => fc.integer({ min: 0, max }).map((n) => String(n));
    const parts = fc.tuple(
      digits(9999),
      digits(13),
      digits(32),
      digits(25),
      digits(61),
      digits(61),
    );
    fc.assert(
      fc.property(parts, ([year, ...others]) => {
        const [month, day, hour, minute, second] = others.map((part) => part.padStart(2, '0'));
        const text = `${year.padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}`;
        const time = Date.parse(`${text}Z`);
        const exists = Number.isFinite(time) && new Date(time).toISOString().startsWith(text);
        const read = coerceTimestamp(text);
        if (!exists) expect(read).toEqual(new Unreadable('not_a_timestamp'));
        else if (text.startsWith('0000')) expect(read).toEqual(new Unreadable('out_of_range'));
        else expect(read).toBe(text);
      }),
      { numRuns: 3_000 },
    );
  });

  it('refuses times whose year has more or fewer digits', () => {
    expect(coerceTimestamp('9999-12-31T23:30:00-02:00')).toEqual(new Unreadable('out_of_range'));
  });

  it('reads days', () => {
    expect(coerceDate('1958-10-13')).toBe('1958-10-13');
    expect(coerceDate('1958-10')).toEqual(new Unreadable('not_a_date'));
  });
});

it('reads whole numbers, also from text, within the range of the column', () => {
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
