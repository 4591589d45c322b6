/** A naive reference of the lookup order, over every value; for the tests only. */

import { correctedTexts, wrongWords } from './look-up.ts';
import { nearestWords } from './nearest-words.ts';

export interface NaiveValue {
  id: number;
  name: string;
  folded: string;
  people: number;
}

/** Returns the ids of the best `limit` values for a folded text. */
export function naiveLookUp(
  values: readonly NaiveValue[],
  folded: string,
  limit: number,
): number[] {
  if (folded === '') return ranked(values).slice(0, limit);
  const found = spelled(values, folded);
  const words = folded.split(' ');
  const vocabulary = [...new Set(values.flatMap((value) => value.folded.split(' ')))];
  const unknown = words.filter((word) => !vocabulary.some((known) => known.startsWith(word)));
  if (found.length < limit) {
    const wrong = wrongWords(words, new Set(unknown));
    const similar = new Map(wrong.map((word) => [word, nearestWords(word, vocabulary, 12)]));
    if (wrong.length > 0) {
      for (const text of correctedTexts(words, similar)) found.push(...spelled(values, text));
    }
  }
  return [...new Set(found)].slice(0, limit);
}

/** Returns values that begin with the text, then values with its words as beginnings of words, in their order. */
function spelled(values: readonly NaiveValue[], text: string): number[] {
  const starts = values.filter((value) => value.folded.startsWith(text));
  const others = values.filter(
    (value) => !value.folded.startsWith(text) && fits(` ${value.folded}`, text.split(' ')),
  );
  return [...ranked(starts), ...ranked(others)];
}

function fits(text: string, words: readonly string[]): boolean {
  let from = 0;
  for (const word of words) {
    const at = text.indexOf(` ${word}`, from);
    if (at < 0) return false;
    from = at + word.length + 1;
  }
  return true;
}

function ranked(values: readonly NaiveValue[]): number[] {
  return [...values]
    .sort(
      (a, b) =>
        b.people - a.people ||
        Buffer.compare(Buffer.from(a.folded), Buffer.from(b.folded)) ||
        a.id - b.id,
    )
    .map(({ id }) => id);
}
