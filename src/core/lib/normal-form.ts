/** Unicode normal forms, in linear time. */

/**
 * Marks of one letter that are sorted together. Normalising sorts all of them, in quadratic time: a second for a cell of 65,000.
 * No language has so many (UAX #15, Stream-Safe Text Format).
 */
const MARKS_MAX = 30;
/** U+FF9E and U+FF9F become marks. */
const MANY_MARKS = new RegExp(`[\\p{M}\\uff9e\\uff9f]{${MARKS_MAX}}`, 'gu');
/** Invisible, and no mark is moved across it. */
const GRAPHEME_JOINER = '\u034f';

/** Returns the text in the normal form. Behind each thirtieth mark of a letter it has a grapheme joiner, U+034F. */
export function toNormalForm(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  const sortable =
    text.length < MARKS_MAX ? text : text.replace(MANY_MARKS, `$&${GRAPHEME_JOINER}`);
  return sortable.normalize(form);
}
