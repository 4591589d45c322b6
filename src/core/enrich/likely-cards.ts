/** Parses what the statements of likely matches return, and reads the cells of rows. */
import { CELL_SEPARATOR } from '../graph/record.ts';
import { countryCode } from '../identifiers/country.ts';
import { type CompanyName, readCompanyName } from '../match/company-words.ts';
import type { CompanyRow } from '../match/compare-company.ts';
import {
  type CompanyCard,
  type PersonCard,
  type PersonRow,
  placeParts,
  titleWords,
} from '../match/compare-person.ts';
import { storedName } from '../match/compare-persons.ts';
import { type NotAName, readNameColumns, readPersonName } from '../match/person-name.ts';
import { countryOfDomain, foldPlaceName } from '../match/place.ts';
import type { LikelyCells } from './likely-row.ts';
import type { GraphNames } from './name-frequencies.ts';

const SEPARATOR_OF_CARDS = '\u001e';

/** Reads a row about a person; a text says why its name is none. */
export function readPersonRow(cells: LikelyCells): PersonRow | NotAName {
  const { name = '', firstName = '', lastName = '', company = '', city = '', title = '' } = cells;
  const read = name.trim() === '' ? readNameColumns(firstName, lastName) : readPersonName(name);
  if (typeof read === 'string') return read;
  return {
    name: read,
    company: company === '' ? null : readCompanyName(company),
    city: foldPlaceName(city),
    country: cells.country ?? null,
    title: titleWords(title),
  };
}

/** Reads a row about a company; a text says why it has none. */
export function readCompanyRow({
  name = '',
  city = '',
  country = null,
}: LikelyCells): CompanyRow | 'empty_name' | 'not_a_name' {
  if (name.trim() === '') return 'empty_name';
  const read = readCompanyName(name);
  if (read === null || read.joined.length < 2) return 'not_a_name';
  return { name: read, city: foldPlaceName(city), country };
}

/** The country of an id; otherwise of the end of the locality, of the register, or of the domain. */
function countryOf(
  names: GraphNames,
  { id, locality, register, domain }: Record<'id' | 'locality' | 'register' | 'domain', string>,
): string | null {
  const last = locality.slice(locality.lastIndexOf(',') + 1).trim();
  return (
    names.countryOf(Number(id)) ??
    (last === '' ? null : countryCode(last)) ??
    (register === '' ? null : countryCode(register)) ??
    countryOfDomain(domain)
  );
}

function placeOf(locality: string, city: string): string[] {
  const parts = placeParts(...locality.split(','));
  const [named] = placeParts(city);
  return named === undefined || parts.includes(named) ? parts : [named, ...parts];
}

/** A person as read, whose employers' other names are not yet known. */
export interface ReadPerson extends Omit<PersonCard, 'companies'> {
  /** Ids of employers with records. */
  employers: readonly number[];
  /** The employers by the names that the person's record has. */
  named: readonly CompanyCard[];
}

/** Parses the texts of `readPersonCards`. */
export function parsePersonCards(text: string, names: GraphNames): ReadPerson[] {
  return text === '' ? [] : text.split(SEPARATOR_OF_CARDS).map((card) => parsePerson(card, names));
}

function parsePerson(text: string, names: GraphNames): ReadPerson {
  const [
    id = '',
    given = '',
    family = '',
    position = '',
    companyId = '0',
    companyName = '',
    currentId = '0',
    pastId = '0',
    pastName = '',
    locality = '',
    city = '',
    countryId = '',
    domain = '',
  ] = text.split(CELL_SEPARATOR);
  const employers = [...new Set([companyId, currentId, pastId].map(Number))].filter(
    (employer) => employer !== 0,
  );
  const named = [
    employerCard(Number(companyId), companyName),
    employerCard(Number(pastId), pastName),
  ].filter((card) => card !== null);
  return {
    id: Number(id),
    name: storedName(readPersonName(given, true), readPersonName(family, true)),
    employers,
    named,
    place: placeOf(locality, city),
    country: countryOf(names, { id: countryId, locality, register: '', domain }),
    title: titleWords(position),
  };
}

function employerCard(id: number, text: string): CompanyCard | null {
  const name = text === '' ? null : readCompanyName(text);
  return name === null ? null : { id, names: [name], place: [], country: null };
}

/** Parses the texts of `readCompanyCards`. */
export function parseCompanyCards(text: string, names: GraphNames): CompanyCard[] {
  return text === '' ? [] : text.split(SEPARATOR_OF_CARDS).map((card) => parseCompany(card, names));
}

function parseCompany(text: string, names: GraphNames): CompanyCard {
  const [id = '', locality = '', city = '', countryId = '', domain = '', register = '', ...texts] =
    text.split(CELL_SEPARATOR);
  const read: CompanyName[] = [];
  for (const name of texts) {
    const one = readCompanyName(name);
    if (one !== null && !read.some(({ whole }) => whole === one.whole)) read.push(one);
  }
  return {
    id: Number(id),
    names: read,
    place: placeOf(locality, city),
    country: countryOf(names, { id: countryId, locality, register, domain }),
  };
}
