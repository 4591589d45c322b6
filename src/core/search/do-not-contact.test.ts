import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { readContacts } from './do-not-contact.ts';

const hashOf = (address: string) => createHash('sha256').update(address).digest();

test('an entry with several addresses lists all of them', () => {
  const emails = ['Ada@One.example; bob@two.example', 'eve@three.example'];
  expect(readContacts({ emails, domains: [], email_sha256: [] })).toEqual({
    emailHashes: ['ada@one.example', 'bob@two.example', 'eve@three.example'].map(hashOf),
    domains: [],
  });
});
