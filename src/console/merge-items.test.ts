import { expect, test } from 'vitest';
import { mergeItems } from './merge-items.ts';

const item = (id: string, day: number, revision = 1) => ({
  ...{ id, revision },
  created_at: `2026-01-${String(day).padStart(2, '0')}T00:00:00.000Z`,
});
const pages = [item('d', 9), item('c', 8, 5), item('b', 7), item('a', 6)];

test('new items come first, and those of later pages stay', () => {
  const latest = [item('e', 10), item('d', 9, 2)];
  expect(mergeItems(pages, latest)).toEqual([item('e', 10), item('d', 9, 2), ...pages.slice(1)]);
});

test('an item that the first page no longer has was deleted', () => {
  const latest = [item('d', 9), item('b', 7)];
  expect(mergeItems(pages, latest).map(({ id }) => id)).toEqual(['d', 'b', 'a']);
});

test('an older state never takes the place of a newer one', () => {
  expect(mergeItems(pages, [item('d', 9), item('c', 8, 4)])[1]).toEqual(item('c', 8, 5));
});

test('without a latest page the items are as they were read', () => {
  expect(mergeItems(pages, null)).toEqual(pages);
});
