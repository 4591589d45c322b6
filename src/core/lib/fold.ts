/** The one form in which texts are compared. The SQL function `fold` of the graph's schema is its twin. */
import { toNormalForm } from './normal-form.ts';

const NON_ASCII = /[^\0-\x7f]/;
const MARKS = /[\u0300-\u036f]/g;
/** Unicode decomposes it to a space with an accent, so it is replaced first. */
const ACUTE_ACCENT = /\u00b4/g;

/** Letters that have no accent to remove, as they are usually spelled without them. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
};
/** Grave accent, quotation marks, modifier letter and prime, where keyboards and typesetters differ. */
const APOSTROPHES = /[\u0060\u2018\u2019\u201b\u02bc\u2032]/g;
/** Hyphens, dashes and the minus sign. */
const DASHES = /[\u2010-\u2015\u2212]/g;
const PLAIN_LETTERS = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'g');

/**
 * Returns the text in lower case, without accents, with one apostrophe and one dash: `Weiß`, `weiss` and `WEISS`
 * are the same, and so are `O’Brien` and `o'brien`. The result is decomposed (NFKD).
 */
export function fold(text: string): string {
  if (!NON_ASCII.test(text)) return text.toLowerCase().replaceAll('`', "'");
  return toNormalForm(text.replace(ACUTE_ACCENT, "'"), 'NFKD')
    .replace(MARKS, '')
    .toLowerCase()
    .replace(APOSTROPHES, "'")
    .replace(DASHES, '-')
    .replace(PLAIN_LETTERS, (letter) => plainLetters[letter] ?? letter);
}
