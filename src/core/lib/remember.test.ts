import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
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

test('a long text is not kept', () => {
  const computed: number[] = [];
  const length = remember((text) => computed.push(text.length), 4);
  for (const characters of [1_000, 1_000, 1_001, 1_001]) length('a'.repeat(characters));
  expect(computed).toEqual([1_000, 1_001, 1_001]);
});

test('a kept text does not keep the text that it was cut from', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const length = remember((text) => text.length, 1_000);
  const heap = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = heap();
  for (let index = 0; index < 50; index++) {
    const page = Buffer.alloc(2_000_000, `${index} name of a person `).toString();
    expect(length(page.slice(1_000, 1_040))).toBe(40);
  }
  expect(heap() - before).toBeLessThan(20_000_000);
});
