import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance } from './edit-distance.ts';
import { nearestWords } from './nearest-words.ts';

test.each([
  ['enginer', ['engineer', 'engines', 'manager'], ['engineer', 'engines']],
  ['lodnon', ['london', 'lisbon'], ['london']],
  ['lnodn', ['london'], []],
  ['sofwrae', ['software'], ['software']],
  ['marn', ['barn', 'mark', 'mara'], ['mara', 'mark', 'barn']],
])('%s is corrected, from %j, to %j', (word, candidates, meant) => {
  expect(nearestWords(word, candidates, 10)).toEqual(meant);
});

test('no word that is near enough is missing', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abcdé東ü\u{1d49c}'), maxLength: 10 });
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 30 }), (asked, candidates) => {
      const near = candidates.filter((candidate) => {
        const max = [...candidate].length >= 8 ? 2 : 1;
        return editDistance(asked, candidate, max) <= max;
      });
      expect(nearestWords(asked, candidates, 30).sort()).toEqual(near.sort());
    }),
  );
});
