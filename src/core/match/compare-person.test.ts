import { expect, test } from 'vitest';
import { type NameRelation, relateNames, storedName } from './compare-persons.ts';
import { mayMatchPerson } from './levels.ts';
import { readNameColumns, readPersonName } from './person-name.ts';

/** Relates a name as listed with a stored one, given name and family name apart. */
function relate(listed: string, given: string, family: string): NameRelation {
  const row = readPersonName(listed);
  if (typeof row === 'string') throw new Error(row);
  return relateNames(row, storedName(readPersonName(given, true), readPersonName(family, true)));
}

test.each([
  ['Anna Kowalska', 'Anna', 'Kowalska', 'equal', 'equal'],
  ['Kowalska, Anna', 'Anna', 'Kowalska', 'equal', 'equal'],
  ['KOWALSKA Anna', 'Anna', 'Kowalska', 'equal', 'equal'],
  ['Dr. Anna Kowalska MBA', 'Anna', 'Kowalska', 'equal', 'equal'],
  ['A. Kowalska', 'Anna', 'Kowalska', 'equal', 'initial'],
  ['Bob Miller', 'Robert', 'Miller', 'equal', 'nickname'],
  ['Joerg Mueller', 'Jörg', 'Müller', 'sound', 'sound'],
  ['Mary Mc Donald', 'Mary', 'McDonald', 'equal', 'equal'],
  ['Jan van de Berg', 'Jan', 'Berg', 'equal', 'equal'],
  ['Maria Torres', 'Maria', 'Torres Vega', 'part', 'equal'],
  ['Анна Ковальска', 'Anna', 'Kovalska', 'equal', 'equal'],
  ['Ben Kowalska', 'Ben', 'Kowalska', 'equal', 'equal'],
  ['"Anna Kowalska"', 'Anna', 'Kowalska', 'equal', 'equal'],
  ['“Kowalska, Anna”', 'Anna', 'Kowalska', 'equal', 'equal'],
  ['Anna Kowalsak', 'Anna', 'Kowalska', 'slip', 'equal'],
  ['Kim Je Nam', 'Je Nam', 'Kim', 'equal', 'equal'],
  ['杨 磊', '磊', '杨', 'equal', 'equal'],
  ['杨磊', '磊', '杨', 'equal', 'equal'],
  ['김철수', '철수', '김', 'equal', 'equal'],
])('%s is %s %s: surname %s, given name %s', (listed, given, family, surname, first) => {
  expect(relate(listed, given, family)).toMatchObject({ family: surname, given: first });
});

test.each([
  ['John Kowalska', 'Joan', 'Kowalska'],
  ['Jane Kowalska', 'James', 'Kowalska'],
  ['Anna Kowalska', 'Maria', 'Nowak'],
])('%s is not %s %s', (listed, given, family) => {
  const { given: first } = relate(listed, given, family);
  expect(['slip', 'none']).toContain(first);
});

test.each([
  ['欧阳 明', '明辉', '欧阳'],
  ['欧阳 明辉', '明', '欧阳'],
  ['김 철', '철수', '김'],
])(
  'a name of one ideograph or syllable is no initial: %s is not %s %s',
  (listed, given, family) => {
    expect(relate(listed, given, family)).toMatchObject({ family: 'equal', given: 'none' });
  },
);

test.each([
  ['John Nordmann Jr.', 'John', 'Nordmann Sr.', 'differ'],
  ['Nordmann Junior, John', 'John', 'Nordmann III', 'differ'],
  ['John Nordmann, Jr.', 'John', 'Nordmann Junior', 'none'],
  ['John Nordmann', 'John', 'Nordmann Sr.', 'none'],
  ['Sr. Juan Nordmann', 'Juan', 'Nordmann Jr.', 'none'],
])('the generation of %s and %s %s: middle names %s', (listed, given, family, middle) => {
  expect(relate(listed, given, family)).toMatchObject({ family: 'equal', given: 'equal', middle });
});

test.each([
  ['Anna Kowalska', { country: 'equal' }, true],
  ['Anna Kowalska', {}, false],
  ['A. Kowalska', { country: 'equal' }, false],
  ['A. Kowalska', { country: 'equal', title: 'equal' }, false],
  ['Kowalska', { country: 'equal' }, false],
  ['A. Nowak', { country: 'equal' }, false],
  ['A. Kowalska', { city: 'equal' }, true],
  ['A. Kowalska', { company: 'equal' }, true],
] as const)(
  '%s with %j has something beside the name that tells who it is: %s',
  (listed, others, expected) => {
    const compared = {
      company: 'missing',
      companyId: 0,
      country: 'missing',
      city: 'missing',
      title: 'missing',
      name: relate(
        listed,
        listed === 'A. Nowak' ? 'A.J.' : 'Anna',
        listed === 'A. Nowak' ? 'Nowak' : 'Kowalska',
      ),
      ...others,
    } as const;
    expect(mayMatchPerson(compared)).toBe(expected);
  },
);

test('father and son, and two middle initials, are two people at one company', () => {
  const compared = {
    company: 'same',
    companyId: 1,
    country: 'equal',
    city: 'equal',
    title: 'equal',
  } as const;
  const may = (name: NameRelation) => mayMatchPerson({ ...compared, name });
  expect(may(relate('John Nordmann Jr.', 'John', 'Nordmann Sr.'))).toBe(false);
  expect(may(relate('John G. Nordmann', 'John R.', 'Nordmann'))).toBe(false);
  expect(may(relate('John G. Nordmann', 'John', 'Nordmann Sr.'))).toBe(true);
});

test.each([
  ['Roberta Nowak', 'Robert A.', 'Nowak', 'none'],
  ['Robert A. Nowak', 'Roberta', 'Nowak', 'none'],
  ['Ivana Nowak', 'Ivan', 'Nowak', 'none'],
  ['Thomas Nowak', 'Thomasina', 'Nowak', 'none'],
  ['JR Nowak', 'J. R.', 'Nowak', 'equal'],
  ['Mary Ann Nowak', 'Maryann', 'Nowak', 'equal'],
  ['Earl Kowalska', 'Anna', 'Kowalska', 'none'],
  ['Kowalska, Duke', 'Anna', 'Kowalska', 'none'],
  ['Earl Kowalska', 'Earl', 'Kowalska', 'equal'],
  ['Kowalska, Prince', 'Prince', 'Kowalska', 'equal'],
  ['Earl Peter Kowalska', 'Peter', 'Kowalska', 'equal'],
  ['Peter Kowalska, Baron Kowalska of Leeds', 'Peter', 'Kowalska', 'equal'],
  ['Peter Kowalska, Justice', 'Peter', 'Kowalska', 'equal'],
  ['Kowalska, Sir Peter', 'Anna', 'Kowalska', 'none'],
  ['Kowalska, Sir Peter', 'Peter', 'Kowalska', 'equal'],
  ['Berg Kowalska, Dame Anna', 'Anna', 'Berg Kowalska', 'equal'],
  ['Anna Kowalska, Lady Leeds', 'Anna', 'Kowalska', 'equal'],
  ['Kowalska, Lady Anna', 'Peter', 'Kowalska', 'none'],
  ['Earl Kowalska Jr.', 'Anna', 'Kowalska', 'none'],
  ['Kowalska Jr., Earl', 'Anna', 'Kowalska', 'none'],
  ['Kowalska, Earl Jr.', 'Anna', 'Kowalska', 'none'],
  ['Kowalska, Dr. Earl', 'Anna', 'Kowalska', 'none'],
  ['Earl Berg-Kowalska', 'Anna', 'Berg-Kowalska', 'none'],
  ['Earl van Berg', 'Earl', 'van Berg', 'equal'],
  ['Earl L. Kowalska', 'Louise', 'Kowalska', 'none'],
  ['Earl L. Kowalska', 'Earl', 'Kowalska', 'equal'],
  ['Kowalska, Earl L.', 'Anna', 'Kowalska', 'none'],
  ['Earl Kowalska', 'Earl L.', 'Kowalska', 'equal'],
  ['Berg-Kowalska, Lady Anna', 'Peter', 'Berg-Kowalska', 'none'],
  ['Baron Cohen, Anna', 'Anna', 'Baron Cohen', 'equal'],
  ['Lord Kowalska', 'Peter', 'Kowalska', 'missing'],
  ['P.. Kowalska', 'Peter', 'Kowalska', 'initial'],
  ['Rob Nowak', 'Bob', 'Nowak', 'nickname'],
  ['Kathy Nowak', 'Cath', 'Nowak', 'nickname'],
  ['Randy Nowak', 'Mandy', 'Nowak', 'slip'],
  ['Don Nowak', 'Donna', 'Nowak', 'start'],
  ['Christina Nowak', 'Tina', 'Nowak', 'nickname'],
  ['Ron Nowak', 'Ronnie', 'Nowak', 'nickname'],
])('%s is %s %s by given name: %s', (listed, given, family, expected) => {
  expect(relate(listed, given, family).given).toBe(expected);
});

test.each([
  ['Earl Nowak Jr.', 'Anna', 'Nowak', 'none'],
  ['Earl Nowak PhD', 'Anna', 'Nowak', 'none'],
  ['Earl Nowak Jr.', 'Earl', 'Nowak', 'equal'],
  ['Earl L. Nowak', 'Linda', 'Nowak', 'none'],
  ['Nowak, Earl L.', 'Linda', 'Nowak', 'none'],
  ['Nowak, Earl L.', 'Earl', 'Nowak', 'equal'],
  ['Earl van Dyke', 'Anna', 'van Dyke', 'none'],
  ['Van Dyke, Earl', 'Anna', 'Van Dyke', 'none'],
  ['Van Dyke, Earl', 'Earl', 'Van Dyke', 'equal'],
  ['Earl Vega Torres', 'Anna', 'Vega Torres', 'none'],
  ['Earl Vega Torres', 'Earl', 'Vega Torres', 'equal'],
  ['Tan Wei Ming', 'Wei Ming', 'Tan', 'equal'],
  ['Tan Sri Wei Lim', 'Wei', 'Lim', 'equal'],
  ['Pastor Nowak', 'Anna', 'Nowak', 'none'],
  ['Maj Nowak', 'Anna', 'Nowak', 'none'],
  ['Maj Nowak', 'Maj', 'Nowak', 'equal'],
  ['Amartya Sen.', 'Amartya', 'Sen', 'equal'],
  ['Col. Peter Nowak', 'Peter', 'Nowak', 'equal'],
  ['Pastor Anna Nowak', 'Anna', 'Nowak', 'equal'],
  ['Hon. Nowak', 'Anna', 'Nowak', 'missing'],
  ['Nowak, Hon.', 'Anna', 'Nowak', 'missing'],
  ['Maj. Gen. A. Nowak', 'Anna', 'Nowak', 'initial'],
  ['Hon Nowak', 'Anna', 'Nowak', 'none'],
  ['Nowak, Jr., Anna', 'Anna', 'Nowak', 'equal'],
  ['Rahman, MD, Anna', 'Anna', 'Rahman', 'equal'],
  ['Rahman, MD, Anna', 'Mohammed', 'Rahman', 'none'],
  ['Rahman MD, Anna', 'Mohammed', 'Rahman', 'none'],
  ['Rahman, Md, PhD', 'Anna', 'Rahman', 'none'],
  ['Rahman, Md', 'Anna', 'Rahman', 'none'],
  ['Tan, Md', 'Anna', 'Tan', 'none'],
  ['Rahman, Md', 'Mohammed', 'Rahman', 'nickname'],
  ['Anna Rahman, MD', 'Mohammed', 'Rahman', 'none'],
  ['Anna Rahman, MD', 'Anna', 'Rahman', 'equal'],
  ['Nowak, Prince K.', 'Prince K.', 'Nowak', 'equal'],
  ['Prince Nowak', 'Prince K.', 'Nowak', 'equal'],
  ['Karl Nowak', 'Prince K.', 'Nowak', 'none'],
  ['Earl Nowak', 'Earl Ray', 'Nowak', 'nickname'],
  ['Ray Nowak', 'Earl Ray', 'Nowak', 'equal'],
])(
  'a title that may be a given name is one unless another agrees: %s, %s %s by given name %s',
  (listed, given, family, expected) => {
    expect(relate(listed, given, family).given).toBe(expected);
  },
);

test.each([
  ['JD', 'Nowak', 'Anna', 'none'],
  ['JR', 'Nowak', 'J. R.', 'equal'],
  ['Md', 'Nowak', 'Mohammed', 'nickname'],
  ['Junior', 'Nowak', 'Anna', 'none'],
  ['Earl L.', 'Nowak', 'Linda', 'none'],
  ['Mr. Earl', 'Van Dyke', 'Anna', 'none'],
  ['Dr. Anna', 'Nowak', 'Anna', 'equal'],
  ['Dr.', 'Nowak', 'Anna', 'missing'],
  ['Anna, PhD', 'Nowak', 'Anna', 'equal'],
  ['Hon.', 'Nowak', 'Anna', 'missing'],
  ['Hon. A.', 'Nowak', 'Anna', 'initial'],
])('a column of given names holds them: %s with %s is %s by %s', (first, last, given, expected) => {
  const row = readNameColumns(first, last);
  if (typeof row === 'string') throw new Error(row);
  const stored = storedName(readPersonName(given, true), readPersonName(last, true));
  expect(relateNames(row, stored)).toMatchObject({ family: 'equal', given: expected });
});

test.each([
  ['J?rgen Nowak', 'Julia', 'Nowak', 'none'],
  ['J\ufffd\ufffdrgen Nowak', 'Julia', 'Nowak', 'none'],
  ['Fran?ois Nowak', 'Frank', 'Nowak', 'none'],
  ['J\u00adurgen Nowak', 'Julia', 'Nowak', 'none'],
  ['J?rgen Nowak', 'Jürgen', 'Nowak', 'slip'],
  ['J?rgen Kr?ger', 'Jürgen', 'Krüger', 'slip'],
  ['J\u00adürgen Nowak', 'Jürgen', 'Nowak', 'equal'],
  ['Jo\u200bhn Nowak', 'John', 'Nowak', 'equal'],
  ['Jo‑Ann Nowak', 'Jo', 'Nowak', 'equal'],
])(
  'a lost letter leaves no initial: %s is %s %s by given name: %s',
  (text, given, last, expected) => {
    expect(relate(text, given, last).given).toBe(expected);
  },
);

test.each([
  ['Sheikh Omar Nowak', 'Sheikh Peter', 'Nowak', 'equal', 'none'],
  ['Nowak, Sheikh Omar', 'Sheikh Peter', 'Nowak', 'equal', 'none'],
  ['Hon John Adler', 'The Hon John', 'Nowak', 'equal', 'none'],
  ['Sheikh Nowak', 'Sheikh Peter', 'Nowak', 'equal', 'nickname'],
  ['Earl A. Nowak', 'A.', 'Nowak', 'equal', 'none'],
  ['Anna Wallenberg', 'Anna', 'Wall', 'equal', 'none'],
  ['Peter Francis', 'Peter', 'Frank', 'none', 'equal'],
  ['Peter Novakova', 'Peter', 'Novak', 'sound', 'equal'],
  ['Hugo Lord Nowak', 'Lori', 'Nowak', 'equal', 'none'],
  ['Kyle Peterson', 'Peter', 'Kyle', 'equal', 'none'],
  ['Yongtae Kim', 'Yong Nam', 'Kim', 'equal', 'none'],
  ['Bartosz Nowak', 'Bart', 'Nowak', 'equal', 'start'],
  ['Nowak P., Omar', 'Peter', 'Nowak', 'equal', 'none'],
  ['Omar Nowak, P.', 'Peter', 'Nowak', 'equal', 'none'],
  ['M. Torres Vega', 'M.', 'Torres', 'equal', 'none'],
  ['Martin Vega', 'Anna', 'Vega Martin', 'equal', 'none'],
  ['Torres Vega', 'Anna', 'Torres Vega', 'equal', 'missing'],
  ['Torres Vega, M. A.', 'Juan', 'Torres Vega', 'equal', 'none'],
  ['Prof. Torres Vega, M. A.', 'Juan', 'Torres Vega', 'equal', 'none'],
  ['Torres Vega, M. A., PhD', 'Juan', 'Torres Vega', 'equal', 'none'],
  ['Torres Vega, M. A.', 'María Ángeles', 'Torres Vega', 'equal', 'initial'],
  ['Torres Vega, Ph.D.', 'Anna', 'Torres Vega', 'equal', 'missing'],
])(
  '%s is %s %s no more than by surname %s and given name %s',
  (listed, given, last, family, first) => {
    expect(relate(listed, given, last)).toMatchObject({ family, given: first });
  },
);

test('a part of a surname that is only similar is none', () => {
  expect(relate('Jeanne Kowalsky', 'Jean', 'Berg Kowalski').family).toBe('none');
  expect(relate('Maria Torres', 'Maria', 'Torres Vega').family).toBe('part');
  expect(relate('Maria Lopes', 'Maria', 'Vega Lopez').family).toBe('none');
});

test('an initial of a surname is no more than that', () => {
  expect(relate('Jennifer R Coffey', 'Jennifer', 'Rhodes').family).toBe('initial');
});

test.each([
  ['', 'empty_name'],
  ['J', 'name_too_short'],
  ['J. K.', 'name_too_short'],
  ['test test', 'not_a_name'],
  ['😀😀', 'not_a_name'],
  ['anna@example.com', 'not_a_name'],
  ['Anna Kow...', 'not_a_name'],
  ['Anna Peters…', 'not_a_name'],
  ['Jo… Kowalska', 'not_a_name'],
  ['Kowalska, An. . .', 'not_a_name'],
  ['A*** Kowalska', 'not_a_name'],
  ['A*na Kowalska', 'not_a_name'],
  ['Jo* Kowalska', 'not_a_name'],
  ['Anna K***', 'not_a_name'],
  ['Anna K*', 'not_a_name'],
  ['Kowalska, A*', 'not_a_name'],
  ["Anna D'A*", 'not_a_name'],
  ['Anna Peters••', 'not_a_name'],
  ['A•na Peters', 'not_a_name'],
  ['A＊na Peters', 'not_a_name'],
  ['Jo⋯ Peters', 'not_a_name'],
  ['Jo．．． Peters', 'not_a_name'],
  ['Managing Director', 'name_is_a_title'],
  ['CEO', 'name_is_a_title'],
  ['Mr.', 'name_is_a_title'],
  ['Acme Holdings Ltd', 'name_is_a_company'],
  ['University of Leeds', 'name_is_a_company'],
  [
    Array.from({ length: 200 }, (_, word) => `word${'abcdefghij'[word % 10]}`).join(' '),
    'name_too_long',
  ],
])('%s is refused as %s', (text, reason) => {
  expect(readPersonName(text)).toBe(reason);
});

test.each([
  'Anna Kowalska*',
  'Anna Kowalska * ',
  'Kowalska*, Anna',
  '**Anna Kowalska**',
  'Anna Kowalska†',
  'Anna Kowalska?',
  "Anna Kowalsk'a*",
  'Anna Kowalsk’a*',
])('%s is a whole name with a note', (text) => {
  expect(relate(text, 'Anna', 'Kowalska')).toMatchObject({ family: 'equal', given: 'equal' });
});

test('a column with a part of a name is refused, the name of a record is not', () => {
  expect(readNameColumns('Jo…', 'Kowalska')).toBe('not_a_name');
  expect(readNameColumns('A*', 'Kowalska')).toBe('not_a_name');
  expect(readNameColumns('Anna', 'Peters***')).toBe('not_a_name');
  expect(readPersonName('Anna Kow...', true)).toMatchObject({ family: 0 });
});

test('two columns are a family name and a given name, whatever commas they have', () => {
  expect(readNameColumns('Anna', 'Kowalska, MBA')).toMatchObject({ family: 1 });
  expect(readNameColumns('', 'Kowalska')).toMatchObject({ family: 0 });
});

test.each([
  ['Sir Peter', 'Kowalska', 'Anna', 'none'],
  ['Lady Anna', 'Kowalska', 'Peter', 'none'],
  ['Sir Peter', 'Kowalska', 'Peter', 'equal'],
  ['Earl', 'Kowalska Jr', 'Anna', 'none'],
  ['Earl', 'Berg-Kowalska', 'Anna', 'none'],
  ['Earl Ray', 'Kowalska', 'Anna', 'none'],
  ['Md', 'Kowalska', 'Anna', 'none'],
  ['MBA', 'Anna Kowalska', 'Anna', 'equal'],
  ['Md', 'Kowalska', 'Mohammed', 'nickname'],
  ['Anna', 'Kowalska, MD', 'Mohammed', 'none'],
  ['A.', 'Kowalska MD', 'Mohammed', 'none'],
])(
  'a column with a title or a degree keeps its given name: %s, %s is %s: %s',
  (given, family, stored, expected) => {
    const row = readNameColumns(given, family);
    const name = storedName(readPersonName(stored, true), readPersonName('Kowalska', true));
    expect(typeof row === 'string' ? row : relateNames(row, name).given).toBe(expected);
  },
);

test('each row is compared anew with one stored name', () => {
  const stored = storedName(readPersonName('Anna', true), readPersonName('Kowalska', true));
  const given = (listed: string) => {
    const row = readPersonName(listed);
    if (typeof row === 'string') throw new Error(row);
    return relateNames(row, stored).given;
  };
  expect(['Anna Kowalska', 'A. Kowalska', 'Anna Kowalska'].map(given)).toEqual([
    'equal',
    'initial',
    'equal',
  ]);
});
