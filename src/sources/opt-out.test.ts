import { expect, test } from 'vitest';
import { isOptOutColumn, optOutOf } from './opt-out.ts';

test.each([
  'Opt out',
  'Email Opt Out',
  'HasOptedOutOfEmail',
  'DoNotCall',
  'Do not contact',
  'Unsubscribed',
  'Unsubscribed from all email',
  'Unsubscribed at',
  'Opted out of email: Marketing',
  'Von allen E-Mails abgemeldet',
  'Désabonné de tous les e-mails',
  'Dado de baja de todos los correos',
  'Werbesperre',
])('%s is a column of opt-outs', (name) => {
  expect(isOptOutColumn(name)).toBe(true);
});

test.each(['HasOptedOutOfFax', 'Opt-out reason', 'Unsubscribe link', 'E-Mail', 'Subscribed'])(
  '%s is none',
  (name) => {
    expect(isOptOutColumn(name)).toBe(false);
  },
);

test('one column is enough for an opt-out, and an unclear one is none', () => {
  expect(optOutOf([])).toBe(false);
  expect(optOutOf(['0', ''])).toBe(false);
  expect(optOutOf(['0', '1'])).toBe(true);
  expect(optOutOf(['maybe', '1'])).toBe(true);
  expect(optOutOf(['0', 'maybe'])).toBeNull();
});
