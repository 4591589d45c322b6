import { expect, it } from 'vitest';
import { cleanText, copyLine } from './copy-text.ts';

const controls = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('');

it('strips C0 controls except tab, line feed and carriage return', () => {
  expect(cleanText(`a${controls}b`)).toBe('a\t\n\rb');
});

it('replaces lone surrogates and keeps pairs', () => {
  expect(cleanText('a\ud800b \u{1f600} \udc00')).toBe('a\ufffdb \u{1f600} \ufffd');
});

it('escapes the special characters of COPY', () => {
  expect(copyLine(['a\tb\\n\r\n', null, 5, ''])).toBe('a\\tb\\\\n\\r\\n\t\\N\t5\t\n');
});

it('writes arrays with quotes and backslashes', () => {
  expect(copyLine([['a"b', 'c\\d', 'e,f'], []])).toBe('{"a\\\\"b","c\\\\\\\\d","e,f"}\t{}\n');
});
