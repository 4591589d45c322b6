/**
 * Company registry numbers, in their canonical form: `<COUNTRY>-<NUMBER>`, `GB-00048839`.
 * 1. Upper case, without spaces, punctuation and words such as `Company No.` before it.
 * 2. The country is the one that the text names (`GB-COH-...`, `GB-...`), else the caller's, else GB.
 * 3. United Kingdom (Companies House: eight characters): the leading zeros that spreadsheets strip are restored,
 * after the prefix if there is one (`SC48005` is `SC048005`, `IP525R` is `IP00525R`, `SP999RS` is `SP0999RS`).
 * Other registers' numbers of eight characters stay.
 * 4. Other countries: letters and digits as written, without the name of the register (`KvK`, `CVR`, `SIREN`, `KRS`). Where
 * all numbers of digits alone have one length, the lost zeros are restored. A VAT number that holds the number is it, and the
 * SIRET of an establishment is the SIREN of its company. A dash does not make `SC-048005` Seychellois:
 * for a UK list two letters and up to six digits are a number with a prefix of Companies House.
 */
import { countryCode } from './country.ts';
import type { CellContent, KindDescription } from './kind.ts';
import { invalid, isTooLong, type Normalised, oneValue, tidyCell } from './normalised.ts';
import { restoreWholeNumber } from './spreadsheet-number.ts';

/** The country of the register when nothing states one. */
export const DEFAULT_REGISTER = 'GB';
/** No country: numbers of it are refused. */
export const UNKNOWN_REGISTER = 'ZZ';

/** Names of one country's register in names of columns; last those that registers of several countries have. */
const wordsOfRegisters = {
  AT: 'firmenbuchnummer',
  CN: '注册号 公司编号 统一社会信用代码',
  DE: 'hrb',
  DK: 'cvr cvrnr',
  FR: 'siren numerosiren nsiren siret numerosiret nsiret',
  GB: 'companieshouse',
  IT: 'registroimprese numeroregistroimprese',
  JP: '法人番号 会社番号',
  NL: 'kvk kvknr',
  PL: 'krs numerkrs',
  [UNKNOWN_REGISTER]: `handelsregister handelsregisternummer registernummer rcs organisationsnummer orgnr orgnummer
    registromercantil`,
} as const;

/** ISO 3166 alpha-2 countries of registers by their names, folded as in `column-words.ts`. */
export const registersByName: ReadonlyMap<string, string> = new Map(
  Object.entries(wordsOfRegisters).flatMap(([code, words]) =>
    words.split(/\s+/).map((word): [string, string] => [word, code]),
  ),
);

export const registryNumber = {
  label: 'Company number',
  parameter: 'Number of the company in its register; `country` names the register.',
  forms: 'with spaces or prefixes, without the leading zeros that spreadsheets remove',
  normalise: (text, { registryCountry }) => normaliseRegistryNumber(text, registryCountry),
  dependsOnCountry: true,
  isRepaired: (text) => /^\s*\d{1,7}(\.0)?\s*$/.test(text),
  testIdentifier: (_word, number) => `9900000${number}`,
  company: {
    // `<ISO country>-<number>`, e.g. `GB-00048839`.
    stored: [{ name: 'registry_number', code: 1, fields: ['registryNumber'] }],
  },
  column: {
    words: `registry registrynumber registrationnumber registrationno registrationnr registeredno
      registerednumber companyregistration regno regnr crn numeroregistro numerodelregistro
      numeroderegistro numeroderegistre ${Object.values(wordsOfRegisters).join(' ')}`,
    plural: 'registry numbers',
    contentOf: (cell, { registryCountry }) => numberContent(cell, registryCountry),
    shareMin: 0.9,
    // Eight digits may be any number or date: only leading zeros and prefixes indicate a registry number.
    tellingForm: /^(?:0\d{7}|[A-Z]{2}\d{6})$/i,
  },
} as const satisfies KindDescription;

/** A day, as of the registration: no register divides its numbers so. */
const DAY_OR_MONTH = '(?:0?[1-9]|[12]\\d|3[01])';
const DATE = new RegExp(
  `^(?:\\d{4}([./-])${DAY_OR_MONTH}\\1|${DAY_OR_MONTH}([./-])${DAY_OR_MONTH}\\2(?:19|20)?(?=\\d))\\d{1,2}(?:[T ].*)?$`,
);
const PLAIN_NUMBER = /^(?!0{8})\d{8}$/;
const ALLOWED = /^[\p{L}\p{N}\s.:#/()_°º-]+$/u;
const LABELS =
  /^(?:COMPAN(?:Y|IES)|HOUSE|REGIST(?:ERED|RATION|RY)|REG|CRN|NUMBER|NO|NR|CO)+(?=[A-Z]{0,3}\d)/;
const NUMBER_CHARACTERS_MAX = 40;

const MANY_REGISTERS = /^(?:AE|CA|CO|DE|US)-/;

/**
 * Returns true for a canonical number of a country with a register for each court, state or chamber (GLEIF's list of registration
 * authorities): companies of several have one number.
 */
export function isOfManyRegisters(canonicalNumber: string): boolean {
  return MANY_REGISTERS.test(canonicalNumber);
}

/** Reasons: `empty`, `too_long`, `not_a_registry_number`, `digits_lost`, `unknown_country`. */
function normaliseRegistryNumber(text: string, registryCountry = DEFAULT_REGISTER): Normalised {
  if (registryCountry === 'GB' && PLAIN_NUMBER.test(text)) return { values: [`GB-${text}`] };
  if (isTooLong(text)) return invalid('too_long');
  const tidy = tidyCell(text).replace(/^["“„]|[\s,;"“”]{1,5}$/g, '');
  if (tidy === '') return invalid('empty');
  const country = registryCountry === 'GB' ? 'GB' : countryCode(registryCountry);
  if (country === null) return invalid('unknown_country');
  const restored = restoreWholeNumber(tidy);
  if (restored === null) return invalid('digits_lost');
  const cell = inLatin((restored ?? tidy).toUpperCase());
  if (!ALLOWED.test(cell) || DATE.test(cell) || cell.endsWith('...'))
    return invalid('not_a_registry_number');

  const named = namedCountry(cell, country);
  // Letters of another script name another register: without them the digits would be those of a British company.
  if (named.country === 'GB' && /(?![A-Z])\p{L}/u.test(cell)) {
    return invalid('not_a_registry_number');
  }
  const compact = cell.slice(named.skip).replace(/[^A-Z0-9]+/g, '');
  const number = canonicalNumber(compact, named.country);
  return number === null
    ? invalid('not_a_registry_number')
    : oneValue(`${named.country}-${number}`);
}

/**
 * Returns Greek and Cyrillic letters as the Latin ones that look alike, as in Cypriot `ΗΕ 123456`. In a word with others they are
 * their own; so are three Cyrillic ones and more, which may be a word such as `ТОВ`.
 */
function inLatin(cell: string): string {
  const greek = withLookalikes(cell, /\p{Script=Greek}/gu, 'ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'ABEZHIKMNOPTYX');
  const cyrillic = greek.match(/\p{Script=Cyrillic}/gu)?.length ?? 0;
  if (cyrillic > 2) return greek;
  return withLookalikes(greek, /\p{Script=Cyrillic}/gu, 'АВЕЅІЈКМНОРСТУХ', 'ABESIJKMHOPCTYX');
}

function withLookalikes(cell: string, letters: RegExp, from: string, to: string): string {
  const found = cell.match(letters) ?? [];
  if (!found.every((letter) => from.includes(letter))) return cell;
  return cell.replace(letters, (letter) => to.charAt(from.indexOf(letter)));
}

/** Returns the country that the text begins with, and the length of that part. */
function namedCountry(cell: string, country: string): { country: string; skip: number } {
  const match = /^([A-Z]{2})-/.exec(cell);
  const code = match?.[1] === 'UK' ? 'GB' : match?.[1];
  if (code === undefined) return { country, skip: 0 };
  if (code === 'GB')
    return { country: 'GB', skip: /^..-(?:COH\b[- ]?)?/.exec(cell)?.[0].length ?? 3 };
  if (code === country) return { country, skip: 3 };
  const rest = cell.slice(3).replace(/[^A-Z0-9]+/g, '');
  const isPrefix = country === 'GB' && /^\d{1,6}$/.test(rest);
  return isPrefix || countryCode(code) !== code ? { country, skip: 0 } : { country: code, skip: 3 };
}

function canonicalNumber(compact: string, country: string): string | null {
  if (country === 'GB') {
    return britishNumber(compact) ?? britishNumber(compact.replace(LABELS, ''));
  }
  const isNumber = /[1-9]/.test(compact) && compact.length <= NUMBER_CHARACTERS_MAX;
  return isNumber ? registeredNumber(compact, country) : null;
}

const REGISTER_NAME = /^(?:CVR|KRS|KVK|SIRE[NT])(?:N[OR])?(?=\d+$)/;
/** Countries whose VAT numbers are those of the register after the code. */
const VAT_CODE = /^(?:BE|CZ|DK|FI|IT)(?=\d+$)/;

function registeredNumber(compact: string, country: string): string {
  const number = compact
    .replace(REGISTER_NAME, '')
    .replace(VAT_CODE, (code) => (code === country ? '' : code));
  return withZeros(country === 'FR' ? sirenOf(number) : number, country);
}

/** The number of a company in that of an establishment (SIRET, 14 digits) or of its VAT; any other text as it is. */
function sirenOf(number: string): string {
  const siret = /^\d{10,14}$/.test(number) ? number.padStart(14, '0') : '';
  if (siret !== '' && hasCheckDigit(siret)) return siret.slice(0, 9);
  return number.replace(/^FR[A-Z\d]{2}(?=\d{9}$)/, '');
}

/** The check of a SIRET (Luhn, ISO/IEC 7812-1): another long number of a list is none. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]) * (at % 2 === 0 ? 1 : 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

/**
 * Lengths of the numbers that begin with zeros, and the shortest that is one without its zeros. Belgium and Finland put a zero
 * before numbers that they had given; in Italy only a tax code is so long, and the number of a chamber has up to seven digits.
 */
const digitsOf: Readonly<Record<string, { all: number; min: number }>> = {
  BE: { all: 10, min: 9 },
  CZ: { all: 8, min: 1 },
  FI: { all: 8, min: 7 },
  FR: { all: 9, min: 1 },
  IT: { all: 11, min: 8 },
  NL: { all: 8, min: 1 },
  PL: { all: 10, min: 1 },
  SK: { all: 8, min: 1 },
};

function withZeros(number: string, country: string): string {
  const digits = digitsOf[country];
  const isShort = digits !== undefined && number.length >= digits.min && /^\d+$/.test(number);
  return isShort ? number.padStart(digits.all, '0') : number;
}

function britishNumber(compact: string): string | null {
  const text = compact.replace(/^(?:(?:GB|UK)(?:COH)?)+(?=[A-Z]{0,2}\d)/, '');
  const [, prefix = '', digits = '', suffix = ''] =
    /^([A-Z]{0,3})(\d{1,8})([A-Z]{0,2})$/.exec(text) ?? [];
  if (/^0+$/.test(digits)) return null;
  const isPadded = /^(?:[A-Z]{2}|R|)$/.test(prefix) && /^(?:R|RS|F|)$/.test(suffix);
  const room = 8 - prefix.length - suffix.length;
  const isPlainOrPrefixed = prefix !== '' || suffix === '';
  if (isPadded && isPlainOrPrefixed && digits !== '' && digits.length <= room) {
    return prefix + digits.padStart(room, '0') + suffix;
  }
  return text.length === 8 && /\d/.test(text) ? text : null;
}

const ukPrefixes = `AC|CE|CS|FC|FE|GE|GN|GS|IC|IP|LP|NC|NF|NI|NL|NO|NP|NR|NZ|OC|OE|PC|R0|RC|RS|SA|
  SC|SE|SF|SG|SI|SL|SO|SP|SR|SZ|ZC`;
/** Companies House: eight digits, or a prefix of two letters and six digits. */
const ukNumber = new RegExp(`^(?:\\d{8}|(?:${ukPrefixes.replace(/\s+/g, '')})\\d{6})$`, 'i');

/** Only the oldest British companies have so few digits; numbers of a list's own are counted from 1. */
const OWN_NUMBER = /^\d{1,5}$/;

function numberContent(cell: string, registryCountry = DEFAULT_REGISTER): CellContent {
  if (!/\d/.test(cell)) return null;
  if (registryCountry === DEFAULT_REGISTER && OWN_NUMBER.test(cell)) return null;
  if (ukNumber.test(cell)) return 'certain';
  return 'values' in normaliseRegistryNumber(cell, registryCountry) ? 'possible' : null;
}
