import { describe, expect, test } from 'vitest';
import { familyOf } from './title-family.ts';

describe('titles of one family', () => {
  test.each([
    [
      'Software Engineer',
      'Senior Software Engineer',
      'Sr. software engineer II',
      'Software Developer, EMEA',
    ],
    [
      'Finance Director',
      'Director of Finance',
      'Director, Finance',
      'Group Finance Director - UK',
      'FD',
    ],
    ['Chief Executive Officer', 'CEO', 'C.E.O.', 'Chief Executive', 'Deputy CEO, Acme Ltd', 'PDG'],
    ['Marketing', 'Head of Marketing', 'Global Head of Marketing', 'Marketing Lead'],
    ['Sales Vice President', 'VP Sales', 'VP, Sales', 'Senior Vice President of Sales (EMEA)'],
    ['HR Director', 'Human Resources Director', 'Interim HR Director @ Acme', 'DRH'],
    [
      'Managing Director',
      'Geschäftsführerin',
      'Directeur Général',
      'Managing Director, Munitions',
      'MD',
    ],
    ['National Assembly Member', 'Member, National Assembly', 'Member of the National Assembly'],
    ['C++ Developer', 'Senior C++ developer', 'C++ Developer 🚀'],
  ])('%s', (name, ...titles) => {
    for (const title of [name, ...titles]) {
      expect([title, familyOf(title)?.name]).toEqual([title, name]);
    }
  });
});

test('words of seniority stay where nothing else is left, or where they are the post', () => {
  const names = [
    'Principal',
    'Executive Assistant',
    'Assistant to the Mayor',
    'Head Teacher',
    'Vice President',
  ];
  expect(names.map((name) => familyOf(name)?.name)).toEqual(names);
});

test.each([
  ['Constructor', 'Constructor'],
  ['Senior constructor of bridges', 'Constructor of Bridges'],
  ['Physician, MD', 'Physician'],
  ['Physician MD', 'Physician Md'],
])('%s is %s', (title, name) => {
  expect(familyOf(title)?.name).toBe(name);
});

test('one key for all spellings, and the accents of the name', () => {
  expect(familyOf('PRÉSIDENT du Sénat')).toEqual({
    key: 'president du senat',
    name: 'Président du Sénat',
  });
  expect(familyOf('President du Senat')?.key).toBe('president du senat');
});

test.each([
  '',
  '-',
  'n/a',
  '???',
  'x',
  'one two three four five six seven eight nine',
  'a'.repeat(201),
])('%j has none', (title) => {
  expect(familyOf(title)).toBeNull();
});
