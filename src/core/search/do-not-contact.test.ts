import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { readContacts } from './do-not-contact.ts';

const hashOf = (address: string) => createHash('sha256').update(address).digest();

test('an entry with several addresses lists all of them', async () => {
  const emails = ['Ada@One.example; bob@two.example', 'eve@three.example'];
  expect(await readContacts({ emails, domains: [], email_sha256: [] })).toEqual({
    emailHashes: ['ada@one.example', 'bob@two.example', 'eve@three.example'].map(hashOf),
    domains: [],
  });
});

test('a long list leaves the thread to others while it is read', async () => {
  let rounds = 0;
  let isReading = true;
  const count = () => {
    rounds++;
    if (isReading) setImmediate(count);
  };
  setImmediate(count);
  const domains = Array.from({ length: 10_000 }, (_, index) => `a${index}.example`);
  await readContacts({ emails: [], domains, email_sha256: [] });
  isReading = false;
  expect(rounds).toBeGreaterThanOrEqual(500);
});
