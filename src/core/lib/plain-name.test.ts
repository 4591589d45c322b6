import { expect, test } from 'vitest';
import { plainName } from './plain-name.ts';

test.each([
  ['Q4 \u202efdp.exe', 'Q4 fdp.exe'],
  ['\u2067\u05d0\u05d1\u05d2\u2069 list', '\u05d0\u05d1\u05d2 list'],
  ['Leads\u2028of\u2029all', 'Leads of all'],
  ['  Leads\r\n2026\u0007 ', 'Leads 2026'],
  ['\u200b\u200d\u00a0', ''],
  ['👩‍👩‍👧‍👦 e\u0301', '👩‍👩‍👧‍👦 e\u0301'],
])('%j is read as %j', (name, plain) => {
  expect(plainName(name)).toBe(plain);
});
