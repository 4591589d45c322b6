import { expect, test } from 'vitest';
import { countInTurn } from './count-in-turn.ts';
import type { Bucket, Limiter } from './limiter.ts';

test('two calls of an account are counted at a time, and another account waits for none of them', () => {
  const counted: string[] = [];
  const busy = {
    takeTokens({ owner }: Bucket) {
      counted.push(owner);
      return new Promise(() => {});
    },
  } as unknown as Limiter;
  for (const accountId of ['many', 'many', 'many', 'many', 'one']) {
    // Those that still wait at the end are refused half a minute later.
    countInTurn(busy, { accountId }, new AbortController().signal).catch(() => {});
  }
  expect(counted).toEqual(['many', 'many', 'one']);
});
