import { expect, test } from 'vitest';
import { toStorableJson } from './storable-json.ts';

test.each([
  ['a\0b', 'a\ufffdb'],
  ['\ud83d', '\ufffd'],
  ['\ude00\ud83d', '\ufffd\ufffd'],
  ['\ud83d\ude00', '\ud83d\ude00'],
  [String.raw`\u0000 \ud800 \\u0000`, String.raw`\u0000 \ud800 \\u0000`],
  ['"\\\n\u0001', '"\\\n\u0001'],
])('%j is stored as %j', (text, stored) => {
  expect(JSON.parse(toStorableJson({ [text]: [text] }))).toEqual({ [stored]: [stored] });
});
