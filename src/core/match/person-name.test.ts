import { expect, test } from 'vitest';
import { type PersonName, readNameColumns, readPersonName } from './person-name.ts';

/** Family and given names as read; the words of a name that is not divided are all given ones. */
function divided(name: PersonName | string): string {
  if (typeof name === 'string') return name;
  const texts = name.words.map(({ text }) => text);
  return `${texts.slice(0, name.family).join(' ')}/${texts.slice(name.family).join(' ')}`;
}

test.each([
  ['Esme Adler, M.D.', '/esme adler'],
  ['Esme Adler Ph. D.', '/esme adler'],
  ['Esme Adler, Ph.D., M.B.A.', '/esme adler'],
  ['Esme Adler Ph.D. M.B.A.', '/esme adler'],
  ['Esme Adler, M.A.', '/esme adler'],
  ['Adler M.D., Esme', 'adler/esme'],
  ['Adler, P.E., Esme', 'adler/esme'],
  ['Adler, J.D.', 'adler/j d'],
  ['Adler J.D.', '/adler j d'],
  ['J.D. Adler', '/j d adler'],
  ['Adler, Ed D.', 'adler/ed d'],
  ['Adler Vega, J.M.', 'adler vega/j m'],
  ['Adler Vega S. R.', '/adler vega s r'],
  ['Esme Ma', '/esme ma'],
  ['Esme Lena M. Ba', '/esme lena m ba'],
  ['Esme Lena Be Ng', '/esme lena be ng'],
  ['Esme Lena C. Fa', '/esme lena c fa'],
  ['Esme Adler, B.Eng., PhD', '/esme adler'],
  ['Esme Adler B.Eng. (Hons)', '/esme adler'],
])('letters of a degree behind a name are no initials: %s is %s', (text, expected) => {
  expect(divided(readPersonName(text))).toBe(expected);
});

test.each([
  ['"Erich" Adler', '/erich adler'],
  ['Adler (Erich)', '/adler erich'],
  ["Adler 'Erich'", '/adler erich'],
  ['Adler, (Erich)', 'adler/erich'],
  ['Adler (Mr)', '/adler'],
  ['Erich (Rick) Adler', '/erich adler'],
])(
  'a name in brackets or quotation marks beside a surname is given: %s is %s',
  (text, expected) => {
    expect(divided(readPersonName(text))).toBe(expected);
  },
);

test.each([
  ['Esme', 'Adler M.D.', 'adler/esme'],
  ['Esme', 'Adler, B.Sc.', 'adler/esme'],
  ['J.D.', 'Adler Vega', 'adler vega/j d'],
  ['Md', 'Adler Vega', 'adler vega/md'],
  ['(Esme)', 'Adler Vega', 'adler vega/esme'],
  ['Sr. Juan', 'Adler', 'adler/juan'],
])('columns %s and %s are %s', (given, family, expected) => {
  expect(divided(readNameColumns(given, family))).toBe(expected);
});

test.each([
  ['Rabbi Adler', '/rabbi adler'],
  ['Ing. Adler', '/adler'],
  ['Ing Adler', '/ing adler'],
  ['Mag. Adler', '/adler'],
])('a title that is also a name, without its dot, is one: %s is %s', (text, expected) => {
  expect(divided(readPersonName(text))).toBe(expected);
});
