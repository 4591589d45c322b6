import { describe, expect, test } from 'vitest';
import { magicIdentifier, magicWords } from '../enrich/magic-identifiers.ts';
import { levelsOf } from '../enrich/outcomes.ts';
import { identifierKinds, kindNames, normaliseIdentifier } from '../identifiers/identifier.ts';
import { readVectors } from '../identifiers/vectors/normaliser.test-suite.ts';
import { type OperationName, operations, subjectOf } from '../operations.ts';
import { identifyingFields } from '../search/free-responses.ts';
import { personCodesOf, readPersonIdentifier } from '../suppression/suppress.ts';
import {
  companyCodes,
  companyIdentifierCodes,
  personCodes,
  personIdentifierCodes,
} from './identifier-kinds.ts';

const operationNames = Object.keys(operations) as OperationName[];

test('stored codes keep their numbers, and no two codes share one', () => {
  expect(personIdentifierCodes).toMatchObject({
    professional_network: 1,
    email: 2,
    work_email: 3,
    phone: 4,
    twitter: 5,
    former_handle: 6,
  });
  expect(companyIdentifierCodes).toMatchObject({
    registry_number: 1,
    domain: 2,
    alias_domain: 3,
    professional_network: 4,
    phone: 5,
    name: 6,
    alias_name: 7,
    former_name: 8,
    ended_domain: 9,
    ended_name: 10,
  });
  for (const codes of [personCodes, companyCodes]) {
    expect(new Set(codes.map(({ code }) => code)).size).toBe(codes.length);
    expect(new Set(codes.map(({ name }) => name)).size).toBe(codes.length);
  }
});

describe.each(kindNames)('%s', (kind) => {
  const { person, company } = identifierKinds[kind];
  const takenBy = operationNames.filter((operation) =>
    (operations[operation].identifiers as readonly string[]).includes(kind),
  );
  const subjects = [
    ...(person === undefined ? [] : ['person']),
    ...(company === undefined ? [] : ['company']),
  ];

  test('finds the records of exactly the subjects whose operations take it', () => {
    expect([...new Set(takenBy.map(subjectOf))].sort()).toEqual(subjects.toSorted());
    for (const operation of takenBy) {
      const codes = subjectOf(operation) === 'person' ? personCodes : companyCodes;
      const stored = codes.filter((one) => one.kind === kind).map(({ code }) => code);
      const found = (levelsOf(operation)[kind] ?? []).flatMap((level) => level.codes);
      expect(found, operation).not.toEqual([]);
      expect(stored, operation).toEqual(expect.arrayContaining(found));
    }
  });

  test('has an identifier for each word of test mode', () => {
    const values = magicWords.map((word) =>
      normaliseIdentifier(kind, magicIdentifier(word, kind), { subject: 'person' }),
    );
    expect(values.filter((one) => 'reason' in one)).toEqual([]);
    expect(new Set(values.map((one) => JSON.stringify(one))).size).toBe(magicWords.length);
  });

  test.runIf(person)('can be opted out, under every code that finds it', () => {
    const stored = personCodes.filter((one) => one.kind === kind);
    expect(personCodesOf(kind as never)).toEqual(stored.map(({ code }) => code));
    const recognised = readVectors(`${kind}.valid.txt`).filter(({ text }) => {
      try {
        return readPersonIdentifier(text).kind === kind;
      } catch {
        return false;
      }
    });
    expect(recognised).not.toEqual([]);
  });

  test.runIf(person)('is in fields that no free count is by', () => {
    const fields = person?.stored.flatMap((stored) => stored.fields ?? []) ?? [];
    const ofRecord = fields.filter((field) => !field.startsWith('_meta.'));
    expect(ofRecord).not.toEqual([]);
    expect([...identifyingFields]).toEqual(expect.arrayContaining(ofRecord));
  });
});
