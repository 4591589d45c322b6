import { expect, test } from 'vitest';
import { type Member, partition } from './partition.ts';

/** Records of one name, each of which has the address of the one before it, of sources of their own. */
function chainOf(length: number): Member[] {
  return Array.from({ length }, (_, place) => ({
    ...{ number: place + 1, id: place + 1, source: `source${place}` },
    ...{ name: 'Ada', surname: 'Lark', born: '' },
    keys: [`email:${place}@acme.example`, `email:${place + 1}@acme.example`],
  }));
}

test('a chain of addresses is one person up to a hundred records; more are compared with no other', () => {
  expect(partition(chainOf(100), true)).toHaveLength(1);
  expect(partition(chainOf(101), true)).toHaveLength(101);
  expect(partition(chainOf(20_000), true)).toHaveLength(20_000);
});
