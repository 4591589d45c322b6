/**
 * Phone numbers, in their canonical form: E.164 with `+`.
 * 1. `+` and 8 to 15 digits are taken as written: numbering plans change faster than any list. Only a trunk zero
 * after the calling code (`+44 (0)20`) is removed, by the plan's rules; in a plan that has none, when only the rest is valid.
 * 2. Without `+` the region decides, by libphonenumber; the number must be valid there. Without a region a
 * national number identifies no one: `phone_without_country`.
 * 3. A cell may hold several numbers, split at `/`, `,`, `;`, words, line ends and ` - `; each valid one is a
 * value, in order. An area code before a slash belongs to the number after it (`0711 / 123456`, `+49 711 / 123456`), as
 * German and Belgian lists write them. Extensions are removed. `784-8380~2` is 784-8380 first (a range of lines), then the
 * digits as written, which is how some sources stored it.
 * `7946 0958-59` is the first number when the whole is none of the plan.
 * 4. A lost `+` is restored when that is certain: `00` before a valid number; the region's own calling code, before digits
 * that are no national number or too long for one (`4915...` may be Moormerland's area code); or, without a region, a valid
 * international number that is too long to be a national one. No calling code begins with 0, so a
 * `+` before one is none (`+0044`, `+07911`). A query string turns `+44`
 * into ` 44`, which is read as a plus (`fromQuery`). In a file that leading space only counts when the digits are
 * not a valid North American number.
 * 5. Numbers that a spreadsheet wrote as `4.47911123457E+11` are restored if no digit is missing, and those of a
 * program that read them as fractions (`+447911123456.0`).
 * 6. A number of which digits are hidden or cut off (`+49 711 6856xxx`, `6856--`, `020 7946...`) is none.
 * 7. A day (`02.10.2023`) is none.
 * 8. Numbers that are typed where there is none identify no one: after the calling code one digit nine times and more
 * (`9999999999`), or all digits in a row (`01 23 45 67 89`).
 */
import {
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import type { CellContent, KindDescription } from './kind.ts';
import {
  HIDING_SIGNS,
  HIDING_WORDS,
  invalid,
  isTooLong,
  type Normalised,
  severalValues,
  tidyCell,
} from './normalised.ts';
import { restoreWholeNumber } from './spreadsheet-number.ts';

export const phone = {
  label: 'Phone',
  parameter: 'Phone number, in any usual form.',
  forms: 'any notation; numbers without a country code need a country or `default_region`',
  normalise: (text, { region, fromQuery }) => normalisePhone(text, region, fromQuery),
  dependsOnCountry: true,
  holdsSeveral: true,
  isRepaired: (text) => /\de\+?\d/i.test(text),
  // From a range that is never assigned.
  testIdentifier: (_word, number) => `+44770090090${number}`,
  person: {
    stored: [{ name: 'phone', code: 4, fields: ['phone', 'mobile'] }],
    optOut: /^\s*\+[\d\s().-]+$/,
    optOutName: 'a phone number with country code',
    mention: { before: '', after: '(?!\\d)' },
  },
  company: { stored: [{ name: 'phone', code: 5, fields: ['phone'] }] },
  column: {
    words: `phone telephone tel telefon telefono telefone telefoon telephonique telefonu telefonico
      fon tlf tfn tlfnr tfnnr telnr telno telefonnr rufnummer festnetz festnetznummer landline dial
      電話 電話番号 电话 电话号码 座机 whatsapp`,
    plural: 'phone numbers',
    contentOf: (cell, { region }) => phoneContent(cell, region),
  },
} as const satisfies KindDescription;

type Region = NonNullable<NonNullable<ReturnType<typeof parsePhoneNumberFromString>>['country']>;

const FRACTION_OF_ZERO = /^(\+\d{8,15})\.0$/;
const E164 = /^\+[1-9]\d{7,14}$/;
const NORTH_AMERICAN = /^\(?([2-9]\d\d)\)?[ .-]?([2-9]\d\d)[ .-]?(\d{4})$/;
const northAmericanRegions: ReadonlySet<string> = new Set(['US', 'CA']);
const EXTENSION_WORDS = 'ext(?:n|ension)?|post[ei]|durchwahl|ramal|anexo|x|доб|内线|#';
const extension = new RegExp(`(?<!\\p{L})(?:${EXTENSION_WORDS})[.:= ]{0,3}\\d{1,7}(?!\\d)`, 'giu');
/** A number with hidden digits, and the rest of it. Two asterisks may as well set the text apart, before and behind. */
const HIDDEN =
  `(?<!\\p{L})x{2,}(?!\\p{L})|[${HIDING_SIGNS}_?#]{2,}|` +
  String.raw`\*{3,}|(?<!\*{2}.*)\*{2}|\.{3}|[([]?(?:${HIDING_WORDS})[)\]]?`;
/** Signs right behind a digit for hidden ones: `6856--`, `6856nn`. In the next pattern they would take time. */
const HIDDEN_AT_END = /(?<=\d)(?:-{2,}(?=\s{0,9}(?:$|[;,|\n]))|([a-z])\1+(?!\p{L}))/giu;
const HIDDEN_DIGITS = new RegExp(
  `[+(]{0,2}\\d[\\d ().-]{0,30}(?:${HIDDEN})[\\d ().x*#${HIDING_SIGNS}_?-]*`,
  'giu',
);
const DAY_OF_MONTH = '(?:0?[1-9]|[12]\\d|3[01])';
const MONTH = '(?:0?[1-9]|1[0-2])';
const YEAR = '(?:19|20)\\d\\d';
/** A day, with its time: `02.10.2023 10:11`. No plan groups its digits so, but a calling code may be before them. */
const DAY = new RegExp(
  `(?<![\\d+()./-] ?)(?:${YEAR}([./-])${MONTH}\\1${DAY_OF_MONTH}|` +
    `(?:${DAY_OF_MONTH}([./-])${MONTH}\\2|${MONTH}([./-])${DAY_OF_MONTH}\\3)${YEAR})` +
    String.raw`(?:[T ]\d\d?:[\d:.]*)?(?![\d./-])`,
  'g',
);
const BETWEEN_NUMBERS = /[^\d+().\-/~ ]+|(?=\+)/u;
const SPACED_SLASH = / ?\/ /;
const INSIDE_CELL = / - |\//;
/** The most digits of an area code, with a trunk zero, and with a calling code. */
const AREA_DIGITS_MAX = 6;
const CALLED_AREA_DIGITS_MAX = 8;
/** Calling codes of two digits (ITU E.164); outside zones 1 and 7 all others have three. */
const TWO_DIGITS = '2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]';
const TWO_DIGIT_CODE = new RegExp(`^\\+(?:${TWO_DIGITS})`);
const IN_A_ROW = '0?123456789|1234567890|2345678901|0?987654321|9876543210';
const NO_NUMBER = new RegExp(
  `^\\+(?:(\\d)\\1{7,}|(?:[17]|${TWO_DIGITS}|(?!${TWO_DIGITS})[2-689]\\d{2})(?:(\\d)\\2{8,}|${IN_A_ROW}))$`,
);
const DIGITS_MIN = 5;
const DIGITS_MAX = 15;
const PIECES_MAX = 12;

/** Reasons: `empty`, `too_long`, `not_a_phone`, `digits_lost`, `phone_without_country`,
 * `not_valid_in_country`. */
export function normalisePhone(text: string, region?: string, fromQuery = false): Normalised {
  if (fromQuery && /^ [1-9]/.test(text)) return normalisePhone(`+${text.slice(1)}`, region);
  if (E164.test(text) && !mayHoldTrunkZero(text)) return numberValue(text);
  const country = supportedRegion(region);
  const national = northAmericanNumber(text, country);
  if (national !== null) return numberValue(national);
  if (isTooLong(text)) return invalid('too_long');

  const tidy = tidyCell(text).replace(FRACTION_OF_ZERO, '$1');
  if (tidy === '') return invalid('empty');
  const restored = restoreWholeNumber(tidy);
  if (restored === null) return invalid('digits_lost');
  const cell = foldDigits(restored ?? tidy);
  const plusAsSpace = /^ [1-9]/.test(text);
  const found = splitCell(cell).flatMap((piece, index) =>
    numbersInPiece(piece, country, plusAsSpace && index === 0),
  );
  const numbers = found.filter((number) => !NO_NUMBER.test(number));
  return severalValues(numbers, reasonForNone(cell, country));
}

function numberValue(number: string): Normalised {
  return NO_NUMBER.test(number) ? invalid('not_a_phone') : { values: [number] };
}

function reasonForNone(cell: string, country: Region | undefined): string {
  const digits = cell.replace(/\D+/g, '').length;
  if (digits < DIGITS_MIN) return 'not_a_phone';
  if (cell.includes('+')) return 'not_a_phone';
  return country === undefined ? 'phone_without_country' : 'not_valid_in_country';
}

/** ISO alpha-2, as libphonenumber knows it; undefined for none and for uninhabited regions. */
function supportedRegion(region: string | undefined): Region | undefined {
  if (region === undefined) return undefined;
  const code = region.toUpperCase();
  return isSupportedCountry(code) ? code : undefined;
}

/** Most lists are North American, and there every plan is the same ten digits. */
function northAmericanNumber(text: string, country: Region | undefined): string | null {
  if (country === undefined || !northAmericanRegions.has(country)) return null;
  const match = NORTH_AMERICAN.exec(text);
  return match === null ? null : `+1${match[1]}${match[2]}${match[3]}`;
}

/**
 * A zero right after the calling code is a trunk prefix in most plans; in the listed ones it belongs to the
 * number. Zones 1 and 7 have no trunk zero.
 */
function mayHoldTrunkZero(number: string): boolean {
  return (
    number.charAt(callingCodeEnd(number)) === '0' && !/^\+(?:1|7|39|225|24[12]|378)/.test(number)
  );
}

function callingCodeEnd(number: string): number {
  return TWO_DIGIT_CODE.test(number) ? 3 : 4;
}

function foldDigits(text: string): string {
  return text
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 0xf))
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u223c\u301c]/g, '~');
}

function splitCell(cell: string): string[] {
  return withoutEmails(cell)
    .replace(DAY, ';')
    .replace(HIDDEN_AT_END, '...')
    .replace(HIDDEN_DIGITS, ';')
    .replace(extension, ';')
    .replace(/\s*[\r\n\t]\s*/g, ';')
    .split(BETWEEN_NUMBERS)
    .filter((piece) => /\d/.test(piece))
    .slice(0, PIECES_MAX);
}

/** Digits inside an email address are not a phone number. */
function withoutEmails(cell: string): string {
  if (!cell.includes('@')) return cell;
  const words = cell.split(/\s/).filter((word) => !word.includes('@'));
  return words.join(' ');
}

function numbersInPiece(piece: string, country: Region | undefined, space: boolean): string[] {
  const parts = piece.split(SPACED_SLASH, PIECES_MAX);
  const found: string[] = [];
  for (let at = 0; at < parts.length; at += 1) {
    const [part = '', next = ''] = parts.slice(at, at + 2);
    const joined = numberAfterArea(part, next, country);
    if (joined === null) found.push(...numbersInPart(part, country, space));
    else {
      found.push(joined);
      at += 1;
    }
  }
  return found;
}

/** The number of an area code before a slash and of what follows; null when they are not parts of one number. */
function numberAfterArea(area: string, rest: string, country: Region | undefined): string | null {
  const code = area.replace('(0)', '').replace(/\D+/g, '').replace(/^00/, '');
  const isCalled = /^\s*\(?(?:\+|00)/.test(area);
  const digitsMax = isCalled ? CALLED_AREA_DIGITS_MAX : AREA_DIGITS_MAX;
  // A number of its own has a trunk zero.
  if (code === '' || code.length > digitsMax || !/^\s*[1-9]/.test(rest)) return null;
  const read = (text: string) => {
    const digits = text.replace(/\D+/g, '');
    return area.includes('+') ? validNumber(`+${digits}`) : readNumber(text, country, false);
  };
  return read(area) === null ? read(area + rest) : null;
}

function numbersInPart(piece: string, country: Region | undefined, space: boolean): string[] {
  const whole = readPiece(piece, country, space);
  if (whole.length > 0) return whole;
  const parts = piece.split(INSIDE_CELL, PIECES_MAX);
  return parts.length > 1 ? parts.flatMap((part) => readPiece(part, country, space)) : [];
}

function readPiece(piece: string, country: Region | undefined, space: boolean): string[] {
  const range = piece.indexOf('~');
  const lines = range < 0 ? firstOfLines(piece, country) : null;
  const readings = range < 0 ? [lines ?? piece] : [piece.slice(0, range), piece];
  return readings
    .map((reading) => readNumber(reading, country, space))
    .filter((number) => number !== null);
}

/** The first number of `7946 0958-59`; null when the digits behind the dash belong to it, as in `6856-12`. */
function firstOfLines(piece: string, country: Region | undefined): string | null {
  const first = /^(.*\d)-\d{1,2}\s*$/.exec(piece)?.[1];
  if (first === undefined) return null;
  const isValid = (text: string) => {
    const digits = text.replace(/\D+/g, '');
    return validNumber(text.includes('+') ? `+${digits}` : digits, country) !== null;
  };
  return isValid(first) && !isValid(piece) ? first : null;
}

function readNumber(
  text: string,
  country: Region | undefined,
  plusAsSpace: boolean,
): string | null {
  const digits = text.replace(/\D+/g, '');
  if (digits.length < DIGITS_MIN || digits.length > DIGITS_MAX + 3) return null;
  if (text.includes('+') && !digits.startsWith('0')) {
    return readInternational(digits, !INSIDE_CELL.test(text));
  }
  if (country !== undefined) {
    const hasLostPlus =
      digits.startsWith(getCountryCallingCode(country)) && !couldBeNational(digits);
    const national =
      (hasLostPlus ? validNumber(`+${digits}`) : null) ?? validNumber(digits, country);
    if (national !== null) return national;
  }
  if (digits.startsWith('00')) return validNumber(`+${digits.slice(2)}`);
  if (plusAsSpace && !isNorthAmerican(digits)) return validNumber(`+${digits}`);
  return country === undefined && !couldBeNational(digits) ? validNumber(`+${digits}`) : null;
}

/**
 * Written with `+`: the digits as written, except by the plan's rules when they may contain a trunk zero or the
 * text may be two numbers.
 */
function readInternational(digits: string, isOneNumber: boolean): string | null {
  const number = `+${digits}`;
  const isPlain = isOneNumber && E164.test(number);
  if (isPlain && !mayHoldTrunkZero(number)) return number;
  const end = callingCodeEnd(number);
  const withoutZero = mayHoldTrunkZero(number)
    ? validNumber(number.slice(0, end) + number.slice(end + 1))
    : null;
  return validNumber(number) ?? withoutZero ?? (isPlain ? number : null);
}

function validNumber(digits: string, country?: Region): string | null {
  const parsed = parsePhoneNumberFromString(digits, {
    ...(country === undefined ? {} : { defaultCountry: country }),
    extract: false,
  });
  return parsed?.isValid() ? parsed.number : null;
}

/** The one plan whose national numbers are usually written without a trunk prefix. */
function isNorthAmerican(digits: string): boolean {
  return digits.length === 10 && validNumber(`+1${digits}`) !== null;
}

/**
 * Without their trunk zero national numbers have at most ten digits, except Chinese and German
 * mobiles (1 and 3 to 9 first) and Brazilian ones (a 9 after the two digits of the area).
 */
function couldBeNational(digits: string): boolean {
  if (digits.startsWith('0') || digits.length < 11) return true;
  return digits.length === 11 && /^(?:1[3-9]|\d\d9)/.test(digits);
}

const PHONE_CHARACTERS = /^[\d\s+().,;:/~\-‐-―extEXT#]+$/;
const WRITTEN_AS_PHONE = /^\s*(?:\+|00)|^\(|^0\d{8,}$|\d[\s().\-/]+\d/;
/** Dates and IP addresses, which some numbering plans would accept as phone numbers. */
const DATE_OR_ADDRESS =
  /^(?:\d{4}[-/.]\d\d?[-/.]\d|\d\d?[-/.]\d\d?[-/.]\d{2,4}\b|(?:\d+\.){3}\d+$)/;

function phoneContent(cell: string, region: string | undefined): CellContent {
  if (!/\d/.test(cell)) return null;
  const normalised = normalisePhone(cell, region);
  const isPhone = 'values' in normalised && PHONE_CHARACTERS.test(cell);
  if (isPhone && WRITTEN_AS_PHONE.test(cell) && !DATE_OR_ADDRESS.test(cell)) return 'certain';
  return looksNational(cell, normalised) ? 'possible' : null;
}

/** True for a phone number, also without its country or with another plan's digits. */
function looksNational(cell: string, normalised: Normalised): boolean {
  if ('values' in normalised || normalised.reason === 'digits_lost') return true;
  const digits = cell.replace(/\D+/g, '').length;
  return digits >= 6 && digits <= 17 && digits * 2 > cell.length;
}
