import { expect, test } from 'vitest';
import type { JsonRecord } from '../import/read-records.ts';
import { mergeByTrust } from './trust.ts';

const asOf = '2026-01-01';

/** The names of the person of these records, by their sources. */
function namesOf(records: Readonly<Record<string, JsonRecord>>) {
  const stored = Object.entries(records).map(([source, record]) => {
    return { source, key: '1', asOf, importId: 1, record };
  });
  const { name, surname, title } = mergeByTrust(stored, 'person').record;
  return { name, surname, title };
}

test.each([
  [{ name: 'Ada Lark' }, { name: 'Ada', surname: 'Lark' }],
  [
    { name: '', surname: 'Ada Lark' },
    { name: 'Ada', surname: 'Lark' },
  ],
  [{ name: 'Ada', surname: 'Lark' }, { name: 'Ada Lark' }],
  [
    { name: '', title: 'Dr' },
    { name: 'Ada', surname: 'Lark' },
  ],
])('the name of a person is that of one source: %j and %j', (hubspot, linkedin) => {
  expect(namesOf({ hubspot, linkedin })).toMatchObject({ name: 'Ada', surname: 'Lark' });
});

test('a name that no source divides is that of the most trusted', () => {
  const names = namesOf({ linkedin: { name: 'Ada' }, hubspot: { name: 'A. Lark' }, vcard: {} });
  expect(names).toMatchObject({ name: 'A. Lark', surname: undefined });
});
