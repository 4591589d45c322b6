/**
 * The text of an API key: `svc_live_` or `svc_test_`, 30 random base62 characters (178 bits), and a checksum of 6
 * base62 characters over all that precedes it, so that a mistyped or made-up key is refused without a query. The
 * form follows GitHub's token format (github.blog, 5 April 2021): a brand prefix, and CRC-32 in base62 at the end.
 */
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type KeyMode = 'live' | 'test';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const FORM = /^svc_(live|test)_[0-9A-Za-z]{36}$/;

/** Generates a key of the mode; the caller shows it once and stores only its hash and prefix. */
export function generateKey(mode: KeyMode): string {
  const body = `svc_${mode}_${randomBase62(RANDOM_LENGTH)}`;
  return body + checksum(body);
}

/** Returns the key's mode; null when its form or checksum is wrong. */
export function parseKey(key: string): KeyMode | null {
  const form = FORM.exec(key);
  if (form === null) return null;
  const body = key.slice(0, -CHECKSUM_LENGTH);
  if (checksum(body) !== key.slice(-CHECKSUM_LENGTH)) return null;
  return form[1] === 'live' ? 'live' : 'test';
}

/** Returns the SHA-256 of the key, which is stored. The key has 178 random bits, so a slow hash adds nothing. */
export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Returns the brand, the mode and the first 4 random characters: enough for a person to recognise a key. */
export function displayPrefix(key: string): string {
  return key.slice(0, 'svc_live_'.length + 4);
}

/** Returns a text, such as an address of the reconciliation service, without the keys in it. */
export function hideKeys(text: string): string {
  return text.replace(/svc_(live|test)_\w+/g, 'svc_$1_...');
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  while (text.length < CHECKSUM_LENGTH) {
    text = ALPHABET.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte: dropping the rest keeps every character equally likely.
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}
