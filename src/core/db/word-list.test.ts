import { expect, test } from 'vitest';
import type { Sql } from './client.ts';
import { wordList } from './word-list.ts';

const asText = { unsafe: (text: string) => text } as unknown as Sql;

test('a list of words becomes SQL text; anything else is refused', () => {
  expect(wordList(asText, ['queued', 'not_processed'])).toBe("('queued', 'not_processed')");
  for (const words of [[], [''], ["a'b"], ['a b'], ['A'], ['queued', 'x)']]) {
    expect(() => wordList(asText, words)).toThrow('a list of lower-case words');
  }
});
