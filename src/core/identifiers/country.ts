/**
 * Converts the texts of a country column to ISO 3166 alpha-2:
 * 1. Two-letter and three-letter ISO codes, in any case.
 * 2. The names of every region in the languages below, as Unicode's CLDR spells them (`Intl`), compared without
 * case, accents and punctuation. When two languages use one name for two regions, the first language wins.
 * 3. A short list of variants that are missing from CLDR: UK, England, USA, Holland, ... The tables are built
 * once, at the first name that is not a code, which takes about 30 ms.
 * 4. Several of these that mean one country: `GB - United Kingdom`, `Germany (DE)`, `England, UK`.
 * 5. Codes of subdivisions (ISO 3166-2): `GB-ENG`, `US-CA`. One that is also a language and another country, as the
 * locale `de-AT`, is no country.
 * 6. Calling codes that one country alone has: `+49`. Those of several, as `+44`, only say how to read a phone number.
 */
import type { CountryCallingCode } from 'libphonenumber-js/max';
import phoneMetadata from 'libphonenumber-js/max/metadata';
import { fold } from '../lib/fold.ts';
import { toNormalForm } from '../lib/normal-form.ts';
import { alpha3Codes, countryVariants } from './country-variants.ts';
import { foldUnicode, isTooLong, tidyCell } from './normalised.ts';

const languages =
  `en fr de es it pt nl sv da nb fi et lv lt pl cs sk sl hr hu ro bg el tr ru uk ar he
  ja ko zh zh-Hant id vi`.split(/\s+/);

/** Reserved in ISO 3166 or private to CLDR, and not codes of countries. */
const notCountries = new Set('AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ'.split(' '));

let codes: ReadonlySet<string> | undefined;
let names: ReadonlyMap<string, string> | undefined;

/** Returns the alpha-2 code of a country's name or code; null when the text is neither. */
export function countryCode(text: string): string | null {
  const known = seen.get(text);
  if (known !== undefined) return known;
  const code = findCountryCode(text);
  if (text.length <= MEMORABLE_LENGTH_MAX) {
    if (seen.size === SEEN_MAX) seen.clear();
    seen.set(text, code);
  }
  return code;
}

/**
 * Returns the country that a place `<city>, <region>, <country>` ends with. Of fewer parts the last may be a region: `CA` is
 * California and Canada, and `Georgia` two places as well.
 */
export function countryOfPlace(place: string): string | null {
  const parts = place.split(',');
  const last = (parts.at(-1) ?? '').trim();
  return parts.length < PARTS_OF_PLACE && MAY_BE_REGION.test(last) ? null : countryCode(last);
}

const PARTS_OF_PLACE = 3;
const MAY_BE_REGION = /^(?:(?!uk$|gb$|us$)[a-z]{2}|georgia)$/i;

/** Returns the English name of a country by its alpha-2 code. */
export function countryName(code: string): string {
  englishNames ??= new Intl.DisplayNames('en', { type: 'region' });
  return englishNames.of(code) ?? code;
}

let englishNames: Intl.DisplayNames | undefined;

/** A list repeats few country names a million times. */
const seen = new Map<string, string | null>();
const SEEN_MAX = 1_000;
const MEMORABLE_LENGTH_MAX = 64;

function findCountryCode(text: string): string | null {
  if (isTooLong(text)) return null;
  const tidy = tidyCell(text);
  if (isCountryCode(tidy.toUpperCase())) return tidy.toUpperCase();
  if (tidy === '') return null;
  return namedCountry(tidy) ?? repeatedCountry(tidy) ?? countryOfSubdivision(tidy);
}

function isCountryCode(text: string): boolean {
  codes ??= new Set(countryCodes());
  return codes.has(text);
}

function namedCountry(text: string): string | null {
  names ??= countryNames();
  return names.get(foldCountry(text)) ?? null;
}

/** Between the names and codes of one cell. */
const BETWEEN_NAMES = /\s[-–—]+\s|[–—:/|,;()[\]]+/;
const CODE_BEFORE_NAME = /^([a-z]{2,3})[ -]+(.{4,})$/i;
const NAMES_MAX = 4;

/** The one country that each part of the text may mean. */
function repeatedCountry(text: string): string | null {
  const split = text.split(BETWEEN_NAMES, NAMES_MAX + 1).filter((part) => part.trim() !== '');
  const parts = split.length > 1 ? split : (CODE_BEFORE_NAME.exec(text)?.slice(1) ?? [text]);
  if (parts.length > NAMES_MAX) return null;
  const [first = [], ...others] = parts.map((part) => countriesMeant(part.trim()));
  const [country = null, ...further] = first.filter((code) =>
    others.every((o) => o.includes(code)),
  );
  return further.length === 0 ? country : null;
}

function countriesMeant(text: string): readonly string[] {
  const code = text.toUpperCase();
  if (isCountryCode(code)) return [code];
  const named = namedCountry(text);
  return named === null ? countriesCalled(text) : [named];
}

const SUBDIVISION = /^([a-z]{2})-([a-z]{2,3})$/i;

function countryOfSubdivision(text: string): string | null {
  const [, country = '', part = ''] = SUBDIVISION.exec(text.toUpperCase()) ?? [];
  if (!isCountryCode(country)) return null;
  const other = isCountryCode(part) ? part : namedCountry(part);
  return other === null || other === country || !isLanguage(country) ? country : null;
}

function isLanguage(code: string): boolean {
  languageNames ??= new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  return languageNames.of(code.toLowerCase()) !== undefined;
}

let languageNames: Intl.DisplayNames | undefined;

/**
 * Returns the region by which national phone numbers are read: the country that the text names, or one of those that share
 * the calling code (`+44`, `44`), whose numbers are read alike.
 */
export function phoneRegion(text: string): string | null {
  return countryCode(text) ?? countriesOfCell(text)[0] ?? null;
}

/** Returns true for a text that names the country, also next to a town (`London, UK`), or a calling code that it has. */
export function mayMeanCountry(text: string, code: string): boolean {
  const parts = [text, ...text.split(BETWEEN_NAMES, NAMES_MAX)];
  return parts.some((part) => countryCode(part) === code) || countriesOfCell(text).includes(code);
}

/** The countries of a calling code. Spreadsheets take its plus away; of three digits it may be a code of ISO 3166. */
function countriesOfCell(text: string): readonly string[] {
  return countriesCalled(tidyCell(text).replace(/^\d{1,2}$/, '+$&'));
}

const CALLING_CODE = /^(?:\+|00) ?(\d{1,3})$/;

/** The countries of a calling code, the one with the numbering plan of all first. */
function countriesCalled(text: string): readonly string[] {
  const code = CALLING_CODE.exec(text)?.[1] ?? '';
  return phoneMetadata.country_calling_codes[code as CountryCallingCode] ?? [];
}

function countryCodes(): string[] {
  const english = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));
  return letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => !notCountries.has(code) && isCurrent(code) && english.of(code) !== undefined);
}

/** Former codes such as `DD` and aliases such as `UK` denote another region's code. */
function isCurrent(code: string): boolean {
  return new Intl.Locale(`und-${code}`).region === code;
}

function countryNames(): Map<string, string> {
  const found = new Map<string, string>();
  const add = (name: string | undefined, code: string) => {
    const key = foldCountry(name ?? '');
    if (key !== '' && !found.has(key)) found.set(key, code);
  };
  for (const [code, variants] of Object.entries(countryVariants)) {
    for (const variant of variants) add(variant, code);
  }
  for (const pair of alpha3Codes) add(pair.slice(0, 3), pair.slice(4));
  codes ??= new Set(countryCodes());
  for (const language of languages) {
    const display = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
    for (const code of codes) add(display.of(code), code);
  }
  return found;
}

function foldCountry(name: string): string {
  return toNormalForm(fold(foldUnicode(name)), 'NFKC')
    .replace(/['.]/g, '')
    .replace(/&/g, ' and ')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .replace(/^the /, '')
    .replace(/\brep\b/, 'republic')
    .trim();
}
