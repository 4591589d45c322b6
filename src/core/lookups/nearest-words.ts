/** Ranks corrections of a misspelt word. Pure: the same rule ranks any list of words. */
import { editDistance } from './edit-distance.ts';

/** Shorter words have too many neighbours to guess among. */
export const TYPO_LETTERS_MIN = 4;
/** A word of this many letters may have two typos, a shorter one has one. */
const TWO_SLIPS_LETTERS_MIN = 8;

/** Returns at most `max` corrections, by number of typos, then by length of the common beginning, then by text. */
export function nearestWords(
  word: string,
  candidates: readonly string[],
  wordsMax: number,
): string[] {
  const letters = letterSet(word);
  return candidates
    .filter((candidate) => differs(letters, letterSet(candidate)) <= 2)
    .map((candidate) => {
      const slipsMax = [...candidate].length >= TWO_SLIPS_LETTERS_MIN ? 2 : 1;
      const slips = editDistance(word, candidate, slipsMax);
      return { candidate, slips, fits: slips <= slipsMax, alike: sharedStart(word, candidate) };
    })
    .filter(({ fits }) => fits)
    .sort((a, b) => a.slips - b.slips || b.alike - a.alike || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, wordsMax)
    .map(({ candidate }) => candidate);
}

/** Returns the length of the common beginning of two words. */
function sharedStart(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length++;
  return length;
}

/** Returns the set of letters of a word as bits; characters that share a bit can only hide a difference. */
function letterSet(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

/** Returns the larger of the two set differences: one typo adds at most one. */
function differs(left: number, right: number): number {
  return Math.max(countBits(left & ~right), countBits(right & ~left));
}

function countBits(bits: number): number {
  let rest = bits;
  let count = 0;
  for (; rest !== 0; rest &= rest - 1) count++;
  return count;
}
