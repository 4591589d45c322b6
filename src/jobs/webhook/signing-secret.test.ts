import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { Secret } from '../../core/lib/secret.ts';
import { generateSecret, openSecret, sealSecret, showSecret } from './signing-secret.ts';

const id = '01a1f8f0-209b-72d1-9069-f0e93b7c96ae';
const other = '01a1f8f0-209b-72d1-9069-f0e93b7c96af';
const newKey = () => new Secret(randomBytes(32).toString('base64'));

test('a secret has the form of Standard Webhooks and is never repeated', () => {
  const shown = Array.from({ length: 100 }, () => showSecret(generateSecret()));
  expect(new Set(shown).size).toBe(100);
  for (const text of shown) {
    expect(text).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/);
    expect(Buffer.from(text.slice(6), 'base64')).toHaveLength(32);
  }
});

test('a stored secret opens only with its key and for its webhook', () => {
  const secret = generateSecret();
  const key = newKey();
  const stored = sealSecret(secret, id, key);
  expect(openSecret(stored, id, key)).toEqual(secret);
  expect(openSecret(stored, id, newKey())).toBeNull();
  expect(openSecret(stored, id, undefined)).toBeNull();
  expect(openSecret(stored, other, key)).toBeNull();
  for (let at = 1; at < stored.length; at++) {
    const changed = Buffer.from(stored);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(openSecret(changed, id, key)).toBeNull();
  }
});

test('with a key the stored bytes do not contain the secret and never repeat', () => {
  const secret = generateSecret();
  const key = newKey();
  const stored = sealSecret(secret, id, key);
  expect(stored.includes(secret.subarray(0, 4))).toBe(false);
  expect(sealSecret(secret, id, key)).not.toEqual(stored);
});

test('without a key it is stored as is, and opens with and without one', () => {
  const secret = generateSecret();
  const stored = sealSecret(secret, id, undefined);
  expect(stored.includes(secret)).toBe(true);
  expect(openSecret(stored, id, undefined)).toEqual(secret);
  expect(openSecret(stored, id, newKey())).toEqual(secret);
});
