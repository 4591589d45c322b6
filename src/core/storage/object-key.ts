/**
 * Names of stored objects. Few characters are allowed, so that every store accepts them and none needs escaping.
 */
import { assert } from '../lib/assert.ts';

const KEY = /^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/;

/** Returns true for ASCII letters, digits, `.`, `_` and `-` between slashes. */
export function isKey(text: string): boolean {
  return KEY.test(text);
}

/** Throws unless `isKey`. */
export function assertKey(key: string): void {
  assert(isKey(key), `object key ${key} is well-formed`);
}

/** Throws unless the prefix is a key and a slash. */
export function assertPrefix(prefix: string): void {
  assert(prefix.endsWith('/'), `prefix ${prefix} ends in a slash`);
  assertKey(prefix.slice(0, -1));
}
