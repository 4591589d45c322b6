import { expect, test } from 'vitest';
import { countryIdOf, countryOfId, DERIVED_ID_MIN, derivedId } from './derived-ids.ts';
import { cityTerm, industryOfCodes, industryTerm } from './terms.ts';

/** Stored in graphs: a change of the rule would change every id. */
const fixed = { engineer: 1_206_456_775, london: 1_533_396_254 };

test('ids are the same on every machine', () => {
  expect(derivedId('positions', 'software engineer')).toBe(fixed.engineer);
  expect(derivedId('cities', 'GB london')).toBe(fixed.london);
  expect(countryIdOf('GB')).toBe(DERIVED_ID_MIN + 6 * 26 + 1);
});

test('the id of a country is its code', () => {
  expect(['AA', 'GB', 'ZZ'].map((code) => countryOfId(countryIdOf(code)))).toEqual([
    'AA',
    'GB',
    'ZZ',
  ]);
  expect([countryOfId(232), countryOfId(DERIVED_ID_MIN + 26 * 26)]).toEqual([undefined, undefined]);
});

test.each([
  ['LONDON', 'London'],
  [' Paris 8 ', 'Paris'],
  ['PARIS CEDEX 08', 'Paris'],
  ['Paris, France', 'Paris'],
  ['STOCKTON-ON-TEES', 'Stockton on Tees'],
  ["o'fallon", "O'Fallon"],
  ['são paulo', 'São Paulo'],
  ['São Paulo (SP)', 'São Paulo'],
  ['12345', undefined],
  ['Frankfurt/Main', 'Frankfurt Main'],
  ['12 Long Lane c/o Ada Lark Old Town', undefined],
  ['[ND]', undefined],
  ['n/a', undefined],
])('the city of %j is %j', (text, name) => {
  expect(cityTerm(text)?.name).toBe(name);
});

test.each([
  ['COMPUTER_SOFTWARE', 'Computer Software'],
  ['computer software', 'Computer Software'],
  ['Oil & Gas', 'Oil and Gas'],
  ['unspecified', undefined],
])('the industry of %j is %j', (text, name) => {
  expect(industryTerm(text)?.name).toBe(name);
});

test.each([
  [['62020', '70100'], 'GB', 'Software and IT Services'],
  [['62.01Z'], 'FR', 'Software and IT Services'],
  [['43.210'], 'NO', 'Building Trades'],
  [['01110'], 'GB', 'Farming'],
  [['99999', '00000'], 'GB', 'International Organisations'],
  [['00000', '47110'], 'GB', 'Retail'],
  ['62020|70100', 'GB', 'Software and IT Services'],
  [['541511'], 'US', 'Professional and Technical Services'],
  [['7372'], 'US', 'Services'],
  [['7372'], 'United States', 'Services'],
  [['7372'], 'DE', 'Advertising and Market Research'],
  [['dormant'], 'GB', undefined],
  [undefined, 'GB', undefined],
])('the codes %j of %s are %j', (codes, country, name) => {
  expect(industryOfCodes(codes, country)).toBe(name);
});
