import { describe, expect, test } from 'vitest';
import { companyIdentifierCodes, personIdentifierCodes } from '../graph/identifier-kinds.ts';
import type { IdentifierKind } from '../identifiers/identifier.ts';
import type { OperationName } from '../operations.ts';
import { CANDIDATES_MAX } from './candidates-max.ts';
import { parseHits } from './hits.ts';
import { type Decision, decide, levelsOf } from './outcomes.ts';

const person = personIdentifierCodes;
const company = companyIdentifierCodes;

/** Holders of a value: (identifier code, record id). */
type Holders = readonly (readonly [code: number, id: number])[];
/** The identifiers of a row in order of trust, each with its values and their holders. */
type Row = readonly (readonly [kind: IdentifierKind, ...values: Holders[]])[];

/** Decides a row from look-up lines in the format of the database. */
function decideRow(operation: OperationName, row: Row, firstLine = 0): Decision {
  const holders = row.flatMap(([, ...values]) => values);
  const lines = holders.flatMap((held, line) =>
    held.map(([code, id]) => `${firstLine + line + 1} ${code} ${id}`),
  );
  const hits = parseHits(Buffer.from(lines.join('\n')), firstLine + holders.length);
  const identifiers = row.map(([kind, ...values]) => ({
    kind,
    values: values.map((_, index) => `${kind}-${index}`),
  }));
  return decide(levelsOf(operation), { identifiers, invalid: null }, firstLine, hits);
}

const nobody: Holders = [];
type Expected = Omit<Decision, 'value'>;
const matched = (id: number, by: string, conflict = false): Expected => {
  return { status: 'matched', id, by, conflict, candidates: 1, areCandidatesCut: false };
};
const ambiguous = (by: string, candidates: number, areCandidatesCut = false): Expected => {
  return { status: 'ambiguous', id: 0, by, conflict: false, candidates, areCandidatesCut };
};
const noMatch: Expected = {
  status: 'no_match',
  id: 0,
  by: '',
  conflict: false,
  candidates: 0,
  areCandidatesCut: false,
};

interface Case {
  promise: string;
  row: Row;
  expected: Expected;
}

const personCases: Case[] = [
  {
    promise: 'no record holds any identifier: no match',
    row: [
      ['professional_network', nobody],
      ['email', nobody],
    ],
    expected: noMatch,
  },
  {
    promise: 'the most trusted identifier wins and the others agree',
    row: [
      ['professional_network', [[person.professional_network, 7]]],
      ['email', [[person.email, 7]]],
      ['phone', [[person.phone, 7]]],
    ],
    expected: matched(7, 'professional_network'),
  },
  {
    promise: 'an identifier that no record holds leaves the decision to the next one',
    row: [
      ['professional_network', nobody],
      ['email', [[person.work_email, 7]]],
    ],
    expected: matched(7, 'email'),
  },
  {
    promise: 'another identifier that names another person is a conflict, and trust decides',
    row: [
      ['professional_network', [[person.professional_network, 7]]],
      ['email', [[person.email, 8]]],
    ],
    expected: matched(7, 'professional_network', true),
  },
  {
    promise: 'a shared identifier that includes the match is no conflict',
    row: [
      ['email', [[person.email, 7]]],
      [
        'phone',
        [
          [person.phone, 6],
          [person.phone, 7],
        ],
      ],
    ],
    expected: matched(7, 'email'),
  },
  {
    promise: 'a shared identifier that leaves the match out is a conflict',
    row: [
      ['email', [[person.email, 7]]],
      [
        'phone',
        [
          [person.phone, 5],
          [person.phone, 6],
        ],
      ],
    ],
    expected: matched(7, 'email', true),
  },
  {
    promise: 'a shared identifier of higher trust does not stop a unique one of lower trust',
    row: [
      [
        'email',
        [
          [person.email, 7],
          [person.email, 8],
        ],
      ],
      ['twitter', [[person.twitter, 8]]],
    ],
    expected: matched(8, 'twitter'),
  },
  {
    promise: 'only shared identifiers: ambiguous, by the most trusted, with their number',
    row: [
      [
        'email',
        [
          [person.email, 7],
          [person.work_email, 8],
          [person.email, 9],
        ],
      ],
      [
        'phone',
        [
          [person.phone, 7],
          [person.phone, 8],
        ],
      ],
    ],
    expected: ambiguous('email', 3),
  },
  {
    promise: 'one person under two kinds of the same value is one person',
    row: [
      [
        'email',
        [
          [person.email, 7],
          [person.work_email, 7],
        ],
      ],
    ],
    expected: matched(7, 'email'),
  },
  {
    promise: 'several values of a cell are tried in their order',
    row: [['phone', nobody, [[person.phone, 7]], [[person.phone, 7]]]],
    expected: matched(7, 'phone'),
  },
  {
    promise: 'values of one cell that name different people are a conflict, and the first wins',
    row: [['phone', [[person.phone, 7]], [[person.phone, 8]]]],
    expected: matched(7, 'phone', true),
  },
  {
    promise: 'a handle belongs to its current holder, whoever held it before',
    row: [
      [
        'twitter',
        [
          [person.former_handle, 8],
          [person.twitter, 7],
          [person.former_handle, 9],
        ],
      ],
    ],
    expected: matched(7, 'twitter'),
  },
  {
    promise: 'a handle with only one former holder names that person, at lower trust',
    row: [['twitter', [[person.former_handle, 8]]]],
    expected: matched(8, 'former_handle'),
  },
  {
    promise: 'a value held only under another kind is no match',
    row: [['email', [[person.professional_network, 7]]]],
    expected: noMatch,
  },
  {
    promise: 'a switchboard that reaches the limit of the look-up is ambiguous',
    row: [['phone', Array.from({ length: CANDIDATES_MAX }, (_, id) => [person.phone, id + 1])]],
    expected: ambiguous('phone', CANDIDATES_MAX, true),
  },
  {
    promise: 'a switchboard that was not read to its end contradicts no match',
    row: [
      ['email', [[person.email, 9999]]],
      ['phone', Array.from({ length: CANDIDATES_MAX }, (_, id) => [person.phone, id + 1])],
    ],
    expected: matched(9999, 'email'),
  },
];

const companyCases: Case[] = [
  {
    promise: 'the registry number is trusted before the domain',
    row: [
      ['registry_number', [[company.registry_number, 1]]],
      ['domain', [[company.domain, 2]]],
    ],
    expected: matched(1, 'registry_number', true),
  },
  {
    promise: 'a domain is exclusive: its owner wins over companies that have it as an alias',
    row: [
      [
        'domain',
        [
          [company.alias_domain, 2],
          [company.domain, 1],
          [company.alias_domain, 3],
        ],
      ],
    ],
    expected: matched(1, 'domain'),
  },
  {
    promise: 'an alias domain names its only holder, at lower trust',
    row: [['domain', [[company.alias_domain, 2]]]],
    expected: matched(2, 'alias_domain'),
  },
  {
    promise: 'a name is shared: its current and its former holders are equally good',
    row: [
      [
        'name',
        [
          [company.former_name, 2],
          [company.name, 1],
        ],
      ],
    ],
    expected: ambiguous('name', 2),
  },
  {
    promise: 'an alias name and a former name of two companies are equally good',
    row: [
      [
        'name',
        [
          [company.former_name, 2],
          [company.alias_name, 1],
        ],
      ],
    ],
    expected: ambiguous('alias_name', 2),
  },
  {
    promise: 'a name that one company holds at two levels names it, at the better one',
    row: [
      [
        'name',
        [
          [company.former_name, 1],
          [company.name, 1],
        ],
      ],
    ],
    expected: matched(1, 'name'),
  },
  {
    promise: 'a former name alone names its only former holder, at lower trust',
    row: [['name', [[company.former_name, 4]]]],
    expected: matched(4, 'former_name'),
  },
  {
    promise: 'a name of a living company is not shared with a dissolved one',
    row: [
      [
        'name',
        [
          [company.former_name, 4],
          [company.ended_name, 5],
        ],
      ],
    ],
    expected: matched(4, 'former_name'),
  },
  {
    promise: 'a name that only a dissolved company has finds it',
    row: [['name', [[company.ended_name, 5]]]],
    expected: matched(5, 'former_name'),
  },
  {
    promise: 'a domain of a living company is not that of a dissolved one',
    row: [
      [
        'domain',
        [
          [company.domain, 4],
          [company.ended_domain, 5],
        ],
      ],
    ],
    expected: matched(4, 'domain'),
  },
  {
    promise: 'the host is tried before the registrable domain',
    row: [['domain', [[company.domain, 1]], [[company.domain, 1]]]],
    expected: matched(1, 'domain'),
  },
  {
    promise: 'an owner is known although records of lower trust were cut off',
    row: [
      [
        'domain',
        [
          [company.domain, 1],
          ...Array.from(
            { length: CANDIDATES_MAX - 1 },
            (_, id) => [company.alias_domain, id + 2] as const,
          ),
        ],
      ],
    ],
    expected: matched(1, 'domain'),
  },
  {
    promise: 'one holder among rows cut off by the limit is not known to be the only one',
    row: [
      [
        'name',
        [
          ...Array.from(
            { length: CANDIDATES_MAX - 1 },
            (_, id) => [company.professional_network, id + 100] as const,
          ),
          [company.name, 1],
        ],
      ],
    ],
    expected: ambiguous('name', 1, true),
  },
];

describe('the rules of matching people', () => {
  test.each(personCases)('$promise', ({ row, expected }) => {
    expect(decideRow('people.enrich', row)).toMatchObject(expected);
  });
});

describe('the rules of matching companies', () => {
  test.each(companyCases)('$promise', ({ row, expected }) => {
    expect(decideRow('companies.enrich', row)).toMatchObject(expected);
  });
});

test('email verification reads only work emails', () => {
  const row = (code: number): Row => [['email', [[code, 7]]]];
  expect(decideRow('people.email-verify', row(person.work_email))).toMatchObject(
    matched(7, 'email'),
  );
  expect(decideRow('people.email-verify', row(person.email))).toMatchObject(noMatch);
});

test('a row reads only its own look-up lines', () => {
  const row: Row = [['email', [[person.email, 7]]]];
  expect(decideRow('people.enrich', row, 3)).toMatchObject(matched(7, 'email'));
  const hits = parseHits(Buffer.from('1 2 5\n2 2 6'), 2);
  const identifiers = [{ kind: 'email' as const, values: ['b'] }];
  const decision = decide(levelsOf('people.enrich'), { identifiers, invalid: null }, 1, hits);
  expect(decision).toEqual({ ...matched(6, 'email'), value: 'b' });
});

test('an empty result of the database does not match', () => {
  const hits = parseHits(Buffer.alloc(0), 1);
  const identifiers = [{ kind: 'email' as const, values: ['a'] }];
  expect(decide(levelsOf('people.enrich'), { identifiers, invalid: null }, 0, hits)).toMatchObject(
    noMatch,
  );
});
