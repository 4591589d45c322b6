import { expect, test } from 'vitest';
import { formatShare } from './format.ts';

test('a share is never shown as none when it is some, in any language', () => {
  const none = formatShare(0, 200_000);
  const smallest = formatShare(1, 1_000);
  expect(formatShare(1, 200_000)).toBe(`<${smallest}`);
  expect(formatShare(199, 200_000)).toBe(`<${smallest}`);
  expect(formatShare(200, 200_000)).toBe(smallest);
  expect(formatShare(0, 0)).toBe(none);
  expect(none).not.toBe(smallest);
});
