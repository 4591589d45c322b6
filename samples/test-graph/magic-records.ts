/** The records of the magic identifiers, in the order of their import. */

import { type MagicWord, magicIdentifier } from '../../src/core/enrich/magic-identifiers.ts';
import { companyCodes, type KindCode, personCodes } from '../../src/core/graph/identifier-kinds.ts';
import type { ImportEntity } from '../../src/core/graph/sources/import-records.ts';

/** Above every id of the synthetic people and companies. */
const FIRST_ID = 1_000_001;
export const SUPPRESSED_PERSON_ID = FIRST_ID + 2;

function person(id: number, word: MagicWord): Record<string, unknown> {
  return {
    id,
    name: 'Test',
    surname: word[0]?.toUpperCase() + word.slice(1),
    birthYear: 1980,
    email: '',
    workEmailStatus: 'valid',
    ...identifiersOf(personCodes, word),
    companyId: FIRST_ID,
  };
}

function company(id: number, word: MagicWord): Record<string, unknown> {
  return {
    id,
    registryCountry: 'GB',
    ...identifiersOf(companyCodes, word),
    logo: `https://logos.example/${word}.png`,
  };
}

/** The identifiers of a word, in the fields of the best code of each kind. */
function identifiersOf(codes: readonly KindCode[], word: MagicWord): Record<string, string> {
  const best = codes.filter(({ kind }, index) => codes[index - 1]?.kind !== kind);
  return Object.fromEntries(
    best.flatMap(({ kind, fields = [] }) =>
      fields.map((field) => [field, magicIdentifier(word, kind)]),
    ),
  );
}

const companyIds = [FIRST_ID, FIRST_ID + 1, FIRST_ID + 3, FIRST_ID + 4];

/** `ambiguous` is two records that share everything. */
export const magicRecords: readonly (readonly [ImportEntity, readonly object[]])[] = [
  [
    'companies',
    [
      company(FIRST_ID, 'matched'),
      company(FIRST_ID + 1, 'slow'),
      company(FIRST_ID + 3, 'ambiguous'),
      company(FIRST_ID + 4, 'ambiguous'),
    ],
  ],
  [
    'persons',
    [
      person(FIRST_ID, 'matched'),
      person(FIRST_ID + 1, 'slow'),
      person(SUPPRESSED_PERSON_ID, 'suppressed'),
      person(FIRST_ID + 3, 'ambiguous'),
      person(FIRST_ID + 4, 'ambiguous'),
    ],
  ],
  [
    'financials',
    companyIds.map((companyId) => {
      return {
        companyId,
        periodEnd: '2023-12-31',
        currency: 'GBP',
        revenue: 1_000_000,
        employees: 10,
      };
    }),
  ],
  [
    'officers',
    [
      {
        companyId: FIRST_ID,
        name: 'Test Matched',
        role: 'director',
        appointedOn: '2020-01-01',
        birthYear: 1980,
        personId: FIRST_ID,
      },
    ],
  ],
];
