import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { readContacts } from './do-not-contact.ts';

const hashOf = (address: string) => createHash('sha256').update(address).digest('hex');
const reader = { accountId: 'one', signal: new AbortController().signal };

test('an entry with several addresses lists all of them', async () => {
  const emails = ['Ada@One.example; bob@two.example', 'eve@three.example'];
  expect(await readContacts({ emails, domains: [], email_sha256: [] }, reader)).toEqual({
    emailHashes: ['ada@one.example', 'bob@two.example', 'eve@three.example'].map(hashOf),
    domains: [],
  });
});

test.each([1, 8])('%d long lists of an account leave the thread to others', async (lists) => {
  let rounds = 0;
  let isReading = true;
  const count = () => {
    rounds++;
    if (isReading) setImmediate(count);
  };
  setImmediate(count);
  const domains = Array.from({ length: 10_000 }, (_, index) => `a${index}.example`);
  const read = () => readContacts({ emails: [], domains, email_sha256: [] }, reader);
  await Promise.all(Array.from({ length: lists }, read));
  isReading = false;
  expect(rounds).toBeGreaterThanOrEqual(500 * lists);
});
