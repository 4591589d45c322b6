import { expect, test } from 'vitest';
import { levelsOf } from '../enrich/outcomes.ts';
import { personIdentifierCodes, personKindOf } from '../graph/identifier-kinds.ts';
import { type OperationName, operations } from '../operations.ts';
import { personCodesOf } from './suppress.ts';

const kinds = [...new Set(Object.values(personKindOf))];

test('every identifier by which a person is found can be opted out', () => {
  const ofPeople = (Object.keys(operations) as OperationName[]).filter(
    (operation) => operations[operation].subject === 'person',
  );
  for (const operation of ofPeople) {
    const levels = levelsOf(operation);
    expect(kinds, operation).toEqual(expect.arrayContaining(Object.keys(levels)));
    for (const kind of kinds) {
      const found = (levels[kind] ?? []).flatMap(({ codes }) => codes);
      expect(personCodesOf(kind), `${operation} by ${kind}`).toEqual(expect.arrayContaining(found));
    }
  }
  const optedOut = kinds.flatMap(personCodesOf);
  expect(optedOut.toSorted()).toEqual(Object.values(personIdentifierCodes).toSorted());
});
