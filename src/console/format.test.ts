import { expect, test } from 'vitest';
import { discloseTotal, mostOf as mostOfService } from '../core/search/free-responses.ts';
import { formatBytes, formatShare, mostOf } from './format.ts';

test('a share is never shown as none when it is some, in any language', () => {
  const none = formatShare(0, 200_000);
  const smallest = formatShare(1, 1_000);
  expect(formatShare(1, 200_000)).toBe(`<${smallest}`);
  expect(formatShare(199, 200_000)).toBe(`<${smallest}`);
  expect(formatShare(200, 200_000)).toBe(smallest);
  expect(formatShare(0, 0)).toBe(none);
  expect(none).not.toBe(smallest);
});

test('a rounded total stands for no more than what is said', () => {
  expect(mostOf({ total: 10, total_is: 'about' })).toBe(14);
  expect(mostOf({ total: 100, total_is: 'about' })).toBe(104);
  expect(mostOf({ total: 1_200, total_is: 'about' })).toBe(1_249);
  expect(mostOf({ total: 10, total_is: 'below' })).toBe(9);
  expect(mostOf({ total: 12, total_is: 'exact' })).toBe(12);
});

test('a rounded total stands for as many here as in the service, which limits the credits by it', () => {
  for (let people = 0; people < 20_000; people += people < 2_000 ? 1 : 97) {
    const told = discloseTotal(people);
    expect(mostOf(told)).toBe(mostOfService(told));
  }
});

test('a size is said as the limits are set', () => {
  expect(formatBytes(209_715_200)).toBe('200 MB');
  expect(formatBytes(20 * 1024 ** 3)).toBe('20 GB');
  expect(formatBytes(1023)).toBe(`${(1023).toLocaleString()} bytes`);
  expect(formatBytes(1024)).toBe('1 kB');
  expect(formatBytes(0)).toBe('0 bytes');
});
