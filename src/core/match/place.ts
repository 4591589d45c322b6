/** Compares places as lists write them: one cell for a city, a country by its ISO 3166 code. */
import { countryCode } from '../identifiers/country.ts';
import { isPlaceholder } from '../identifiers/placeholder.ts';
import { remember } from '../lib/remember.ts';
import { toLatin } from './latin.ts';

const TEXTS_KEPT = 20_000;

export type PlaceLevel = 'equal' | 'region' | 'missing' | 'differ';
/** `unknown`: the list states a country, the record has none. */
export type CountryLevel = 'equal' | 'missing' | 'unknown' | 'differ';

/** Returns a place's name as compared. */
export const foldPlaceName = remember(foldPlace, TEXTS_KEPT);

function foldPlace(text: string): string {
  return toLatin(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/^(?:city|town|borough|county) of /, '')
    .replace(/\b(?:d c|dc)$/, '')
    .replace(/\bst\b/g, 'saint')
    .trim();
}

/** The place of a record. */
export interface Placed {
  /** Folded parts of its place, the city first: `leeds`, `england`. */
  place: readonly string[];
  /** ISO 3166 alpha-2; null when unknown. */
  country: string | null;
}

/** Compares a listed city with the places of records. */
export function relatePlaces(listed: string, stored: readonly Placed[]): PlaceLevel {
  if (listed === '' || stored.every(({ place }) => place.length === 0)) return 'missing';
  let level: PlaceLevel = 'differ';
  for (const { place } of stored) {
    if (place[0] === listed) return 'equal';
    if (place.includes(listed)) level = 'region';
  }
  return level;
}

/** The country of a row whose cell names none that is known. */
const UNKNOWN_COUNTRY = 'ZZ';

/** Returns the country of a cell as compared: ISO 3166 alpha-2, null for a cell without a value. */
export function readCountry(text: string): string | null {
  const isEmpty = text.trim() === '' || isPlaceholder(text);
  return countryCode(text) ?? (isEmpty ? null : UNKNOWN_COUNTRY);
}

/** Compares a listed country with those of records. */
export function relateCountries(listed: string | null, stored: readonly Placed[]): CountryLevel {
  if (listed === UNKNOWN_COUNTRY) return 'differ';
  if (listed === null) return 'missing';
  if (stored.every(({ country }) => country === null)) return 'unknown';
  return stored.some(({ country }) => country === listed) ? 'equal' : 'differ';
}

/** Country domains that everyone uses. */
const worldDomains = new Set(
  'ac ag ai am cc cd co eu fm gg id im io is la li ly me mu nu pw re sc sh so st tf to tv vc ws'.split(
    ' ',
  ),
);
const TWO_LETTERS = /\.([a-z]{2})$/;

/** Returns the country of a domain's ending: `FR` of `senat.fr`; null for an ending without a country. */
export function countryOfDomain(domain: string): string | null {
  const ending = TWO_LETTERS.exec(domain)?.[1];
  if (ending === undefined || worldDomains.has(ending)) return null;
  return ending === 'uk' ? 'GB' : countryCode(ending);
}
