import { expect, test } from 'vitest';
import { remember } from './remember.ts';

test('texts that were used last are not computed again, and others are forgotten', () => {
  const computed: string[] = [];
  const length = remember((text) => {
    computed.push(text);
    return text.length;
  }, 4);
  for (const text of ['a', 'bb', 'a', 'ccc', 'a', 'dddd', 'a']) {
    expect(length(text)).toBe(text.length);
  }
  expect(computed).toEqual(['a', 'bb', 'ccc', 'dddd']);
  expect(length('bb')).toBe(2);
  expect(computed.at(-1)).toBe('bb');
});
