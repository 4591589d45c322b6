/**
 * Writes cells of an output file: quoting by RFC 4180, and the `csv-safe` rule for people who
 * open the file in a spreadsheet.
 *
 * csv-safe puts `'` before a text that a spreadsheet would run as a formula: one that begins with
 * = + - @, tab, CR, LF, NUL or a full-width = + - @. Spaces, quotes and characters without width before it
 * do not help. A spreadsheet that takes another delimiter for the file's begins a cell after each comma,
 * semicolon, tab, bar and newline inside a text, whatever is quoted, so `'` comes before a formula there
 * too. The lists are OWASP's "CSV Injection" with ASVS 5 requirement 1.2.10.
 */

import type { Delimiter } from './record-table.ts';

export interface CellStyle {
  delimiter: Delimiter;
  /** True for `format=csv-safe`. */
  safe: boolean;
}

/** Where a cell begins, or would in a file of another delimiter, with what would be run as a formula. */
const formulaStart =
  /(?:^|(?<=[,;\t|\r\n]))(?=[\p{Zs}\p{Cf}"]*[=+\-@\0\uff1d\uff0b\uff0d\uff20])|^(?=[\p{Zs}\p{Cf}"]*[\t\r\n])/gu;

/** Delimiters are literal inside a character class, `|` included. */
const needsQuotes: Record<Delimiter, RegExp> = {
  ',': /[",\r\n]/,
  ';': /[";\r\n]/,
  '\t': /["\t\r\n]/,
  '|': /["|\r\n]/,
};

/**
 * One cell as it stands in the file. Quoted when it holds the delimiter, a quote, CR or LF;
 * spaces at its ends need no quotes. `isTyped` says that the value is one of ours with a known
 * form (E.164 number, coordinates, number, time), which csv-safe leaves alone.
 */
export function encodeCell(text: string, style: CellStyle, isTyped = false): string {
  const cell = style.safe && !isTyped ? text.replace(formulaStart, "'") : text;
  return needsQuotes[style.delimiter].test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

const e164 = /^\+[1-9]\d{6,14}$/;
const decimalNumber = /^[+-]?\d{1,30}(?:[.,]\d{1,30})?$/;
const coordinates = /^-?\d{1,3}(?:\.\d{1,20})?, ?-?\d{1,3}(?:\.\d{1,20})?$/;

/**
 * True for a text that is wholly an E.164 number, a decimal number or coordinates: harmless in
 * a spreadsheet, and spoiled for programs by a prefix. For cells whose column type is not known,
 * such as those of the input.
 */
export function looksTyped(text: string): boolean {
  return e164.test(text) || decimalNumber.test(text) || coordinates.test(text);
}
