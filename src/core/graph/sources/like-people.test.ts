import { expect, test } from 'vitest';
import { mayBeOnePerson } from './like-people.ts';

const person = (text: string, born = '', ...keys: string[]) => {
  const [name = '', surname = ''] = text.split('/');
  return { name, surname, born, keys };
};
const both = (a: ReturnType<typeof person>, b: ReturnType<typeof person>) => [
  mayBeOnePerson(a, b),
  mayBeOnePerson(b, a),
];

test.each([
  ['Anna/Müller', 'Peter/Müller'],
  ['Maria/Rossi', 'Mario/Rossi'],
  ['Paul/Meier', 'Paula/Meier'],
  ['A./Müller', 'Peter/Müller'],
  ['Anna Maria/Müller', 'Peter Paul/Müller'],
  ['John/Smith Jr.', 'John/Smith Sr.'],
  ['John/Smith II', 'John/Smith III'],
  ['Anna/Schmidt', 'Peter/Müller'],
  ['J./Smith', 'J./Brown'],
  ['Familie/Müller', 'Anna/Müller'],
  ['Müller Anna/', 'Peter/Müller'],
  ['Anna & Peter/Müller', 'Anna/Müller'],
  ['Müller/Anna', 'Peter/Müller'],
  ['Mohamed Amine/Haddad', 'Mohamed Karim/Haddad'],
  ['Maria Elena/Rossi', 'Maria Teresa/Rossi'],
  ['John A./Smith', 'John B./Smith'],
  ['Ben/Smith', 'Anna/Smith'],
  ['Van/Nguyen', 'Anna/Nguyen'],
  ['Earl/Carter', 'Anna/Carter'],
  ['Mr/Smith', 'Mrs/Smith'],
  ['Frau/Müller', 'Herr Dr. A./Müller'],
  ['J./S.', 'Anna/Bell'],
  ['A./', 'Peter/Müller'],
  ['伟/王', '芳/李'],
  ['伟/王', '芳/王'],
  ['Earl/Carter', 'Lucy/Carter'],
])('%s and %s are two people with one mailbox', (a, b) => {
  expect(both(person(a), person(b))).toEqual([false, false]);
});

test.each([
  ['Anna/Müller', 'anna/MUELLER'],
  ['Ada/Lark', 'A./Lark'],
  ['William/Gates', 'Bill/Gates'],
  ['Anna/Schmidt', 'Anna/Müller'],
  ['Anna/Müller', '/Müller'],
  ['Anna/Müller', '/'],
  ['Anna/Müller', 'Müller Anna/'],
  ['Anna/Müller', 'Anna Maria/Müller'],
  ['Anna/Müller', 'Dr. Anna/Müller-Lüdenscheidt'],
  ['Catherine/Jones', 'Katherine/Jones'],
  ['John/Smith', 'John/Smith Jr.'],
  ['Mohamed Amine/Haddad', 'Mohamed A./Haddad'],
  ['Maria Elena/Rossi', 'Maria/Rossi Bianchi'],
  ['J./S.', 'John/Smith'],
  ['A./', 'Anna/Müller'],
  ['伟/王', '/王'],
  ['Mr J./Smith', 'John/Smith'],
  ['Frau Anna/Herr', 'Anna/Herr'],
  ['Earl/Carter', 'Earl R./Carter'],
  ['Sheikh Ahmed/Rahman', 'Ahmed/Rahman'],
])('%s and %s may be one person', (a, b) => {
  expect(both(person(a), person(b))).toEqual([true, true]);
});

test('another day of birth is another person, whatever else they share', () => {
  const of = (born: string) => person('John/Smith', born, 'profile:john');
  expect(both(of('1950-02-03'), of('1975-02-03'))).toEqual([false, false]);
  expect(both(of('1950'), of('1975-02-03'))).toEqual([false, false]);
  expect(both(of('1950'), of('1950-02-03'))).toEqual([true, true]);
  expect(both(of(''), of('1950-02-03'))).toEqual([true, true]);
});

test('a profile is one person’s: a word of the name is enough', () => {
  const [a, b] = [person('Xiaoming/Wang', '', 'profile:x'), person('Jack/Wang', '', 'profile:x')];
  expect(both(a, b)).toEqual([true, true]);
  expect(both(a, person('Jack/Wang'))).toEqual([false, false]);
  expect(both(a, person('Jack/Miller', '', 'profile:x'))).toEqual([false, false]);
  expect(both(person('伟/王', '', 'profile:x'), person('芳/李', '', 'profile:x'))).toEqual([
    false,
    false,
  ]);
});
