/**
 * Ids of titles, industries, cities and countries that no file gave an id. An id is computed from the value alone, so
 * that it is the same in every import and on every machine. Ids of files of one's own are below all of them.
 */
import { hash } from 'node:crypto';

/** The first derived id; derived ids fill the rest of 31 bits. */
export const DERIVED_ID_MIN = 2 ** 30;

/** Returns true for an id that no file may bring. */
export function isDerivedId(id: number): boolean {
  return id >= DERIVED_ID_MIN;
}

/** Returns the id of a value by its folded key. Two values have the same one in one of 10^9 pairs. */
export function derivedId(table: 'positions' | 'industries' | 'cities', key: string): number {
  const digest = hash('sha256', `${table} ${key}`, 'buffer');
  return DERIVED_ID_MIN + (digest.readUInt32BE(0) >>> 2);
}

const LETTER_A = 65;
const LETTERS = 26;

/** Returns the id of a country by its ISO alpha-2 code. */
export function countryIdOf(code: string): number {
  const [first, second] = [code.charCodeAt(0) - LETTER_A, code.charCodeAt(1) - LETTER_A];
  return DERIVED_ID_MIN + first * LETTERS + second;
}

/** Returns the ISO alpha-2 code of a derived country; undefined for an id of a file. */
export function countryOfId(id: number): string | undefined {
  const place = id - DERIVED_ID_MIN;
  if (place < 0 || place >= LETTERS * LETTERS) return undefined;
  return String.fromCharCode(LETTER_A + Math.floor(place / LETTERS), LETTER_A + (place % LETTERS));
}
