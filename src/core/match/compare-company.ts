/** Compares a row of a list with a stored company: the fields that the score weighs. Pure. */

import type { CompanyName } from './company-words.ts';
import {
  type CompanyRelation,
  companyLevels,
  relateCompanies,
  tellingForms,
} from './compare-companies.ts';
import type { CompanyCard } from './compare-person.ts';
import { areFormsApart, isFormForeign } from './form-countries.ts';
import { type CountryLevel, type PlaceLevel, relateCountries, relatePlaces } from './place.ts';

/** A row of a list of companies, read. */
export interface CompanyRow {
  name: CompanyName;
  /** Folded; '' when the row has none. */
  city: string;
  /** ISO 3166 alpha-2. */
  country: string | null;
}

export interface CompanyComparison extends CompanyRelation {
  /** True for the present name, false for an alias or a former one. */
  isMain: boolean;
  country: CountryLevel;
  city: PlaceLevel;
  /** The row has a legal form that the company's country does not know. */
  isFormForeign: boolean;
  /**
   * The row states a legal form that the company cannot have: `Acme GmbH` is not `Acme Limited` of the United Kingdom, which may
   * be its subsidiary.
   */
  isOfAnotherLaw: boolean;
}

/** Compares a row with a stored company, by the name that fits best. */
export function compareCompany(row: CompanyRow, card: CompanyCard): CompanyComparison | null {
  let best: CompanyRelation | null = null;
  let isMain = false;
  for (const [index, name] of card.names.entries()) {
    const relation = relateCompanies(row.name, name);
    if (best !== null && rankOf(relation) >= rankOf(best)) continue;
    best = relation;
    isMain = index === 0;
  }
  if (best === null) return null;
  const { country } = card;
  const owners = [card];
  return {
    ...best,
    isMain,
    country: relateCountries(row.country, owners),
    city: relatePlaces(row.city, owners),
    isFormForeign: country !== null && row.name.forms.some((form) => isFormForeign(form, country)),
    isOfAnotherLaw: isOfAnotherLaw(row.name.forms, card),
  };
}

/** Of a company whose country is not known, some country knows the form together with those of its names. */
function isOfAnotherLaw(stated: readonly string[], { names, country }: CompanyCard): boolean {
  const own = tellingForms(names.flatMap(({ forms }) => forms));
  return stated.some(
    (form) =>
      !own.includes(form) &&
      (country === null
        ? own.length > 0 && areFormsApart(form, own)
        : isFormForeign(form, country)),
  );
}

function rankOf({ level, form }: CompanyRelation): number {
  return companyLevels.indexOf(level) * 3 + (form === 'equal' ? 0 : form === 'one_side' ? 1 : 2);
}
