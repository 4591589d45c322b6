/** Parses what the statements of likely matches return, and reads the cells of rows. */
import { CELL_SEPARATOR } from '../graph/record.ts';
import { countryCode } from '../identifiers/country.ts';
import { remember } from '../lib/remember.ts';
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
import { type NotACompany, readListedCompany } from '../match/listed-company.ts';
import { type NotAName, readNameColumns, readPersonName } from '../match/person-name.ts';
import { countryOfDomain, foldPlaceName } from '../match/place.ts';
import type { LikelyCells } from './likely-row.ts';
import type { GraphNames } from './name-frequencies.ts';

const SEPARATOR_OF_CARDS = '\u001e';
const SEPARATOR_OF_GROUPS = '\u001e';
const SEPARATOR_OF_PEOPLE = '\u001e\u001e';

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
}: LikelyCells): CompanyRow | NotACompany {
  const read = readListedCompany(name);
  if (typeof read === 'string') return read;
  return { name: read, city: foldPlaceName(city), country };
}

/** The country of a record without its id: by the end of the locality, the register, or the domain. */
function countryInWords(locality: string, register: string, domain: string): string | null {
  const last = locality.slice(locality.lastIndexOf(',') + 1).trim();
  return (
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

/** Splits the texts of `readPersonCards`; returns them by the id of the person. */
export function splitPersonCards(text: string): Map<number, string> {
  const cards = new Map<number, string>();
  for (const card of text === '' ? [] : text.split(SEPARATOR_OF_PEOPLE)) {
    cards.set(Number(card.slice(0, card.indexOf(SEPARATOR_OF_GROUPS))), card);
  }
  return cards;
}

const TEXTS_KEPT = 20_000;
/** Few given names are those of most people. */
const readPart = remember((text) => readPersonName(text, true), TEXTS_KEPT);
/** Of namesakes one object, which is compared once for a row. */
const readStoredName = remember((cells) => {
  const end = cells.indexOf(CELL_SEPARATOR);
  return storedName(readPart(cells.slice(0, end)), readPart(cells.slice(end + 1)));
}, TEXTS_KEPT);

/** A stored person, and the employers by `employersIn`. */
export interface ReadPerson {
  card: PersonCard;
  work: string;
}

/** Parses a text of `splitPersonCards`. */
export function parsePersonCard(text: string, names: GraphNames): ReadPerson {
  const [id, person = '', work = '', home = ''] = text.split(SEPARATOR_OF_GROUPS);
  const end = person.lastIndexOf(CELL_SEPARATOR);
  return {
    work,
    card: {
      id: Number(id),
      name: readStoredName(person.slice(0, end)),
      // Read when the row has a value to compare with.
      get place() {
        return readHome(home).place;
      },
      get country() {
        const { countryId, country } = readHome(home);
        return names.countryOf(countryId) ?? country;
      },
      get title() {
        return titleWords(person.slice(end + 1));
      },
    },
  };
}

const readHome = remember((text) => {
  const [locality = '', city = '', countryId = '', domain = ''] = text.split(CELL_SEPARATOR);
  return {
    place: placeOf(locality, city),
    countryId: Number(countryId),
    country: countryInWords(locality, '', domain),
  };
}, TEXTS_KEPT);

/** Returns the employers of a person: those of `known` with all their names, others by the name that the person's record has. */
export function employersIn(
  work: string,
  known: ReadonlyMap<number, CompanyCard>,
): readonly CompanyCard[] {
  const [companyId, companyName = '', currentId, pastId, pastName = '', offices = ''] =
    work.split(CELL_SEPARATOR);
  const ids = [companyId, currentId, pastId, ...offices.split(' ')].map(Number);
  const cards: CompanyCard[] = [];
  for (const id of ids) {
    const card = known.get(id);
    if (card !== undefined && !cards.includes(card)) cards.push(card);
  }
  for (const [id = 0, text] of [
    [ids[0], companyName],
    [ids[2], pastName],
  ] as const) {
    // Read only here: most employers of candidates are those that the row may mean, or compared once.
    const name = text === '' || known.has(id) ? null : readCompanyName(text);
    if (name !== null) cards.push({ id, names: [name], place: [], country: null });
  }
  return cards;
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
    country: names.countryOf(Number(countryId)) ?? countryInWords(locality, register, domain),
  };
}
