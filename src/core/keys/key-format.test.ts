import { expect, test } from 'vitest';
import { displayPrefix, generateKey, parseKey } from './key-format.ts';

test('a generated key is well-formed and has its mode', () => {
  expect(generateKey('live')).toMatch(/^svc_live_[0-9A-Za-z]{36}$/);
  expect(parseKey(generateKey('live'))).toBe('live');
  expect(parseKey(generateKey('test'))).toBe('test');
});

test('a key with any one character changed is refused without a database', () => {
  const key = generateKey('live');
  for (let at = 'svc_live_'.length; at < key.length; at++) {
    const other = key[at] === 'a' ? 'b' : 'a';
    expect(parseKey(key.slice(0, at) + other + key.slice(at + 1)), `position ${at}`).toBeNull();
  }
});

test('the display prefix reveals 4 of the 30 random characters', () => {
  const key = generateKey('test');
  expect(displayPrefix(key)).toHaveLength('svc_test_'.length + 4);
  expect(key.startsWith(displayPrefix(key))).toBe(true);
});
