import { expect, test } from 'vitest';
import { z } from 'zod';
import { decimal } from './decimal.ts';

const share = decimal(z.number().min(-1).max(100));

test.each([
  ['16', 16],
  [16, 16],
  ['0.95', 0.95],
  ['-1', -1],
  ['007', 7],
])('%j is a number', (value, number) => {
  expect(share.parse(value)).toBe(number);
});

test.each(['', ' ', '0x10', '1e1', '1_0', ' 1', '1.', '.5', '٣', 'NaN', '101', null, true, [1]])(
  '%j is none',
  (value) => {
    expect(share.safeParse(value).success).toBe(false);
  },
);
