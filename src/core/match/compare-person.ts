/** Compares a row of a list with a stored person: the fields that the score weighs. Pure. */

import { remember } from '../lib/remember.ts';
import type { CompanyName } from './company-words.ts';
import { type CompanyLevel, companyLevels, relateCompanies } from './compare-companies.ts';
import { type NameRelation, relateNames, type StoredName } from './compare-persons.ts';
import type { PersonName } from './person-name.ts';
import { splitWords } from './person-name.ts';
import {
  type CountryLevel,
  foldPlaceName,
  type PlaceLevel,
  relateCountries,
  relatePlaces,
} from './place.ts';

const TEXTS_KEPT = 20_000;

/** A row of a list, read. */
export interface PersonRow {
  name: PersonName;
  company: CompanyName | null;
  /** Folded; '' when the row has none. */
  city: string;
  /** ISO 3166 alpha-2. */
  country: string | null;
  title: readonly string[];
}

/** A stored company as compared. */
export interface CompanyCard {
  id: number;
  names: readonly CompanyName[];
  /** Folded parts of its place, the city first. */
  place: readonly string[];
  country: string | null;
}

/** A stored person as compared. */
export interface PersonCard {
  id: number;
  name: StoredName;
  place: readonly string[];
  country: string | null;
  title: readonly string[];
}

export type TitleLevel = 'equal' | 'overlap' | 'missing' | 'differ';

export interface PersonComparison {
  name: NameRelation;
  company: CompanyLevel | 'missing';
  /** The employer that was compared; 0 for none, or one without a record. */
  companyId: number;
  country: CountryLevel;
  city: PlaceLevel;
  title: TitleLevel;
}

/** Compares a row with a stored person, who works or worked at `companies`. */
export function comparePerson(
  row: PersonRow,
  card: PersonCard,
  companies: readonly CompanyCard[],
): PersonComparison {
  const { company, companyId } = relateEmployers(row.company, companies);
  // A row without a place is compared with none.
  const owners = row.country === null && row.city === '' ? [] : [card, ...companies];
  return {
    name: relateNames(row.name, card.name),
    company,
    companyId,
    country: relateCountries(row.country, owners),
    city: relatePlaces(row.city, owners),
    title: relateTitles(row.title, card.title),
  };
}

function relateEmployers(
  listed: CompanyName | null,
  companies: readonly CompanyCard[],
): Pick<PersonComparison, 'company' | 'companyId'> {
  if (listed === null || companies.length === 0) return { company: 'missing', companyId: 0 };
  let best = companyLevels.length - 1;
  let companyId = 0;
  for (const { id, names } of companies) {
    for (const name of names) {
      const level = companyLevels.indexOf(relateCompanies(listed, name).level);
      if (level >= best) continue;
      best = level;
      companyId = id;
    }
  }
  return { company: companyLevels[best] ?? 'none', companyId };
}

const emptyWords = new Set('of the and for member de la a in at'.split(' '));

/** Returns the significant words of a job title. */
export const titleWords = remember(readTitle, TEXTS_KEPT);

function readTitle(text: string): readonly string[] {
  const all = splitWords(text.slice(0, 200));
  const telling = all.filter((word) => !emptyWords.has(word));
  return telling.length === 0 ? all : telling;
}

function relateTitles(a: readonly string[], b: readonly string[]): TitleLevel {
  if (a.length === 0 || b.length === 0) return 'missing';
  const shared = a.filter((word) => b.includes(word)).length;
  if (shared === a.length && shared === b.length) return 'equal';
  return shared > 0 ? 'overlap' : 'differ';
}

/** Folds the parts of a locality: city, region, country. */
export function placeParts(...parts: readonly string[]): string[] {
  return parts.map(foldPlaceName).filter((part) => part !== '');
}
