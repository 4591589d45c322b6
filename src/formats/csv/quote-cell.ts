/**
 * Writes cells of an output file: quoting by RFC 4180, and the `csv-safe` rule for files that are opened in a
 * spreadsheet.
 *
 * csv-safe puts `'` before a text that a spreadsheet would run as a formula: one that begins with = + - @, tab,
 * CR, LF, NUL or a full-width = + - @. Spaces, quotes, control and zero-width characters before it do not prevent that. A
 * spreadsheet that assumes another delimiter begins a cell after each comma, semicolon, tab, bar and newline
 * inside a text, quoted or not, so `'` is put before a formula there too. The lists are OWASP's "CSV Injection"
 * with ASVS 5 requirement 1.2.10.
 */

import type { Delimiter } from './record-table.ts';

export interface CellStyle {
  delimiter: Delimiter;
  /** True for `format=csv-safe`. */
  safe: boolean;
}

/** Characters that a program may skip before a formula; tab, CR, LF and NUL have rules of their own. */
const SKIPPED = String.raw`[\p{Z}\p{Cf}"\x01-\x08\v\f\x0e-\x1f\x7f-\x9f]*`;

/** The start of a cell, also by another delimiter, followed by what would be run as a formula. */
const FORMULA_START = new RegExp(
  String.raw`(?:^|(?<=[,;\t|\r\n]))(?=${SKIPPED}[=+\-@\0\uff1d\uff0b\uff0d\uff20])|^(?=${SKIPPED}[\t\r\n])`,
  'gu',
);

/** Delimiters are literal inside a character class, `|` included. */
const needsQuotes: Record<Delimiter, RegExp> = {
  ',': /[",\r\n]/,
  ';': /[";\r\n]/,
  '\t': /["\t\r\n]/,
  '|': /["|\r\n]/,
};

/**
 * Encodes one cell. It is quoted when it contains the delimiter, a quote, CR or LF; spaces at its ends need no
 * quotes. `isTyped` marks one of our values with a known form (E.164 number, coordinates, number, time), which
 * csv-safe leaves unchanged.
 */
export function encodeCell(text: string, style: CellStyle, isTyped = false): string {
  const cell = style.safe && !isTyped ? text.replace(FORMULA_START, "'") : text;
  return needsQuotes[style.delimiter].test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

const E164 = /^\+[1-9]\d{6,14}$/;
const DECIMAL_NUMBER = /^[+-]?\d{1,30}(?:[.,]\d{1,30})?$/;
const COORDINATES = /^-?\d{1,3}(?:\.\d{1,20})?, ?-?\d{1,3}(?:\.\d{1,20})?$/;

/**
 * Returns true for a text that is entirely an E.164 number, a decimal number or coordinates: harmless in a
 * spreadsheet, and a prefix would break it for programs. For cells of unknown type, such as those of the input.
 */
export function looksTyped(text: string): boolean {
  return E164.test(text) || DECIMAL_NUMBER.test(text) || COORDINATES.test(text);
}
