/** Names that very many people fit: such a list neither fills memory nor keeps the thread from others. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { fullNamesOf } from '../match/nicknames.ts';
import { findByKeys } from './candidate-keys.ts';
import { findLikely } from './find-likely.ts';

const words = ['bert', 'rick', 'jerry', 'john', 'chris', 'fred'];
const NAMESAKES = 20;

/** Twenty people of each name that two of the words may stand for. */
function namesakes() {
  const names = new Set<string>();
  for (const one of words) {
    for (const surname of words) {
      for (const name of fullNamesOf(one)) if (one !== surname) names.add(`${name} ${surname}`);
    }
  }
  return [...names].flatMap((text, at) => {
    const [name = '', surname = ''] = text.split(' ');
    return Array.from({ length: NAMESAKES }, (_, index) => ({
      id: 1 + at * NAMESAKES + index,
      name,
      surname,
    }));
  });
}

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await importGraph(database.sql, { persons: namesakes() });
});
afterAll(() => database.drop());

test('rows that thousands of people fit leave the thread to others', async () => {
  const row = { name: words.join(' '), title: 'engineer' };
  // Reads the frequencies of names, once.
  await findLikely(database.sql, 'person', [row], 0.95);
  let longest = 0;
  let last = performance.now();
  let isOpen = true;
  const endTurn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const onRound = () => {
    endTurn();
    if (isOpen) setImmediate(onRound);
  };
  setImmediate(onRound);
  const from = performance.now();
  const outcomes = await findLikely(database.sql, 'person', Array(200).fill(row), 0.95);
  const took = performance.now() - from;
  isOpen = false;
  endTurn();
  expect(outcomes).toHaveLength(200);
  expect(longest).toBeLessThan(took / 3);
});

test('a row has five hundred candidates at most, those that its rarest keys find first', async () => {
  const idsOf = (key: number) =>
    Array.from({ length: key === 70 ? 2 : 60 }, (_, at) => key * 100 + at);
  const asked: number[] = [];
  const keys = new Set(Array.from({ length: 70 }, (_, at) => at + 1));
  const [found] = await findByKeys(1, { keysOf: () => keys, isWhole: () => false }, async (all) => {
    asked.push(all.length);
    return all.map((key, at) => `${at + 1} ${idsOf(key).join(',')}`).join('\n');
  });
  expect(asked).toEqual([70]);
  expect(found?.isCut).toBe(true);
  expect(found?.ids.length).toBeGreaterThan(400);
  expect(found?.ids.length).toBeLessThanOrEqual(500);
  expect(found?.ids).toEqual(expect.arrayContaining(idsOf(70)));
});

test('the keys of a list are looked up in bounded numbers', async () => {
  const asked: number[] = [];
  const keysOf = (row: number) => new Set(Array.from({ length: 3000 }, (_, at) => row * 3000 + at));
  const found = await findByKeys(100, { keysOf, isWhole: () => false }, async (all) => {
    asked.push(all.length);
    return `1 ${all[0]}`;
  });
  expect(found).toHaveLength(100);
  expect(found.flatMap(({ ids }) => ids)).toHaveLength(asked.length);
  expect(Math.max(...asked)).toBeLessThanOrEqual(53_000);
  expect(asked.reduce((sum, one) => sum + one, 0)).toBe(300_000);
});
