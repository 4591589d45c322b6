import { expect, test } from 'vitest';
import { relateNames, storedName } from './compare-persons.ts';
import { readPersonName } from './person-name.ts';

test.each([
  ['Hugo R. Adler', 'Robert', 'Adler', 'none'],
  ['J. R. Adler', 'Robert', 'Adler', 'initial'],
  ['Hugo Robert Adler', 'R.', 'Adler', 'none'],
  ['J. Robert Adler', 'Robert', 'Adler', 'other'],
  ['Torres Vega, M.', 'Maria', 'Torres', 'initial'],
  ['Van Hollen C', 'Chris', 'Van Hollen', 'initial'],
  ['Ben R. Adler', 'Robert', 'Adler', 'none'],
  ['Adler, Al R.', 'Robert', 'Adler', 'none'],
  ['Clark J. Ridley', 'Jasmine', 'Clark', 'none'],
  ['J. Clark Ridley', 'Jasmine', 'Clark', 'none'],
  ['Ridley, Clark J.', 'Jasmine', 'Clark', 'none'],
  ['Clark J.', 'Jasmine', 'Clark', 'initial'],
  ['Clark J. Maria', 'Jasmine Maria', 'Clark', 'other'],
  ['J. Maria Clark', 'Jasmine', 'Clark', 'none'],
  ['Clark, M. Jasmine', 'Maria', 'Clark', 'none'],
  ['M. Jasmine Clark', 'Jasmine', 'Clark', 'other'],
  ['J. Maria Clark', 'Jasmine M.', 'Clark', 'initial'],
  ['Maria Clark', 'M. Jasmine', 'Clark', 'none'],
  ['Maria J. Clark', 'M. Jasmine', 'Clark', 'initial'],
  ['Clark, M. MD', 'Maria', 'Clark', 'initial'],
  ['Clark, M. MSW', 'Maria', 'Clark', 'initial'],
  ['Hugo R. Adler', 'R.', 'Adler', 'none'],
  ['R. Adler', 'Hugo R.', 'Adler', 'none'],
  ['H. R. Adler', 'Hugo R.', 'Adler', 'initial'],
  ['Berg J. van der', 'Jan', 'van der Berg', 'initial'],
])(
  'an initial beside a given name is none: %s is %s %s by given name %s',
  (listed, given, family, first) => {
    const row = readPersonName(listed);
    if (typeof row === 'string') throw new Error(row);
    const stored = storedName(readPersonName(given, true), readPersonName(family, true));
    expect(relateNames(row, stored).given).toBe(first);
  },
);
