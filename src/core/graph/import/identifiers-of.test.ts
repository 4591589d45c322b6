import { expect, test } from 'vitest';
import { companyIdentifiers } from './company-row.ts';
import { personIdentifiers } from './person-row.ts';

test('a text that says that there is no value identifies no record', () => {
  for (const text of ['nan', 'None', 'NULL', 'n/a', 'unknown', '-']) {
    const person = { email: text, professional_network: text, twitter: text, phone: text };
    expect(personIdentifiers(1, person, 'GB').lines()).toBe('');
    const company = { name: text, aliases: [text], professional_network: text, domain: text };
    expect(companyIdentifiers(1, company, 'GB').lines()).toBe('');
  }
});

test('a handle that such a text could be is one when it is written as one', () => {
  const person = { twitter: '@nan', professional_network: 'https://www.network.example/in/none' };
  expect(personIdentifiers(1, person, undefined).lines()).toMatch(/^none\t1\t1\nnan\t5\t1\n$/);
});
