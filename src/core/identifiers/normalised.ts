/**
 * The result type of every normaliser of this folder, and the cleaning that they share. A value is canonical: the
 * graph's import and a caller's input go through the same functions and are then compared as equal strings in SQL.
 * Normalisers are pure and total: any text gives a value or a reason.
 */
import { toNormalForm } from '../lib/normal-form.ts';

/** Canonical values in the order to try, or a short stable snake_case reason why there is none. */
export type Normalised = { values: [string, ...string[]] } | { reason: string };

/** A longer cell is not an identifier; refusing it early bounds the time of every function. */
const INPUT_CHARACTERS_MAX = 2000;

/** The longest email address (64 + @ + 255), and more than any other kind needs. */
const VALUE_CHARACTERS_MAX = 320;

/** A cell that holds more values than this is a list, not an identifier; the rest is ignored. */
const VALUES_MAX = 10;

const NON_ASCII = /[^\0-\x7f]/;
const SPREADSHEET_QUOTES = /^="([^"]*)"$/;

/** Signs in the place of characters that are not shown, for a class of a pattern. */
export const HIDING_SIGNS =
  '\u2022\u00b7\u2217\u2588\u2591-\u2593\u25a0\u25aa\u25cb\u25cf\u25e6\u25fc\u25fe\u26ab\u2b1b\u2b24';
/** Words in the place of what is not shown. */
export const HIDING_WORDS = 'hidden|masked|redacted|verborgen|oculto|masqu[eé]';

const ELLIPSIS_APART = /\s{0,3}[([]?\s{0,2}\.{3}[\s)\]]{0,3}$/;

export function isTooLong(text: string): boolean {
  return text.length > INPUT_CHARACTERS_MAX;
}

export function invalid(reason: string): Normalised {
  return { reason };
}

/** Returns one canonical value; `too_long` when the database would not index it. */
export function oneValue(value: string): Normalised {
  return value.length > VALUE_CHARACTERS_MAX ? { reason: 'too_long' } : { values: [value] };
}

/** Returns the distinct values in their order, or the reason when there is none. */
export function severalValues(found: Iterable<string>, reasonIfNone: string): Normalised {
  const [first, ...rest] = new Set(found);
  return first === undefined
    ? { reason: reasonIfNone }
    : { values: [first, ...rest.slice(0, VALUES_MAX - 1)] };
}

/**
 * Removes what copying through spreadsheets and web pages adds: outer white space, the `="..."` and leading `'`
 * that mark a cell as text, invisible format characters (zero width spaces, byte order marks, directions), and
 * compatibility forms such as full-width letters.
 */
export function tidyCell(text: string): string {
  let tidy = foldUnicode(text).trim();
  if (tidy.startsWith('=')) tidy = tidy.replace(SPREADSHEET_QUOTES, '$1').trim();
  while (tidy.startsWith("'")) tidy = tidy.slice(1).trim();
  return tidy;
}

/** Joins the ellipsis of a program that cut the text to what it cut: `acme.co …`, `acme.co (…)`. */
export function joinEllipsis(text: string): string {
  return text.includes('...') ? text.replace(ELLIPSIS_APART, '...') : text;
}

/** NFKC without format characters; plain ASCII is returned unchanged. */
export function foldUnicode(text: string): string {
  return NON_ASCII.test(text) ? toNormalForm(text.replace(/\p{Cf}/gu, ''), 'NFKC') : text;
}

/** Lower case in an idempotent form. */
export function foldCase(text: string): string {
  return foldUnicode(text.toLowerCase());
}
