/**
 * Converts the texts of a country column to ISO 3166 alpha-2:
 * 1. Two-letter and three-letter ISO codes, in any case.
 * 2. The names of every region in the languages below, as Unicode's CLDR spells them (`Intl`), compared without
 * case, accents and punctuation. When two languages use one name for two regions, the first language wins.
 * 3. A short list of variants that are missing from CLDR: UK, England, USA, Holland, ... The tables are built
 * once, at the first name that is not a code, which takes about 30 ms.
 */
import { fold } from '../lib/fold.ts';
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

/** A list repeats few country names a million times. */
const seen = new Map<string, string | null>();
const SEEN_MAX = 1_000;
const MEMORABLE_LENGTH_MAX = 64;

function findCountryCode(text: string): string | null {
  if (isTooLong(text)) return null;
  const tidy = tidyCell(text);
  if (tidy.length === 2) {
    const code = tidy.toUpperCase();
    codes ??= new Set(countryCodes());
    if (codes.has(code)) return code;
  }
  if (tidy === '') return null;
  names ??= countryNames();
  return names.get(foldCountry(tidy)) ?? null;
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
  return fold(foldUnicode(name))
    .normalize('NFKC')
    .replace(/['.]/g, '')
    .replace(/&/g, ' and ')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .replace(/^the /, '')
    .trim();
}
