import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { fold } from './fold.ts';

/** Marks that Unicode goes on adding: Node and the database may know different versions, and order them differently. */
const GROWING_BLOCK = /[\u1ab0-\u1aff]/;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function foldInSql(texts: readonly string[]): Promise<string[]> {
  const rows = await database.sql<{ folded: string }[]>`
    select fold(text) as folded
    from unnest(${[...texts]}::text[]) with ordinality t (text, place) order by place`;
  return rows.map(({ folded }) => folded);
}

test.each([
  [['Weiß', 'weiss', 'WEISS', 'WEIẞ'], 'weiss'],
  [['O’Brien', "o'brien", 'O‘BRIEN', 'o`brien', 'O´Brien', 'oʼbrien'], "o'brien"],
  [['Smith–Jones', 'smith-jones', 'SMITH‑JONES', 'smith−jones'], 'smith-jones'],
  [['Łukasz', 'LUKASZ'], 'lukasz'],
  [['Søren', 'soren'], 'soren'],
  [['Æther', 'aether'], 'aether'],
  [['ΟΔΥΣΣΕΥΣ', 'οδυσσεύς'], 'οδυσσευσ'],
  [['ＡＣＭＥ', 'acme'], 'acme'],
])('%j are the same text', async (spellings, folded) => {
  for (const text of spellings) expect(fold(text)).toBe(folded);
  expect(new Set(await foldInSql(spellings))).toEqual(new Set([folded]));
});

test('the database folds any text of the Latin, Greek and Cyrillic scripts and of punctuation alike', async () => {
  const letters = Array.from({ length: 0x2212 }, (_, code) => String.fromCodePoint(code + 1));
  const known = letters.filter(
    (letter) =>
      /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}\p{Script=Inherited}]/u.test(
        letter,
      ) && !GROWING_BLOCK.test(letter),
  );
  expect(await foldInSql(known)).toEqual(known.map(fold));
  const unit = fc.oneof(fc.constantFrom(...known), fc.constantFrom(...'aÄßéß’`´-–ΣσÅ東ı'));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit }), { maxLength: 50 }), async (texts) => {
      expect(await foldInSql(texts)).toEqual(texts.map(fold));
    }),
    { numRuns: 50 },
  );
});
