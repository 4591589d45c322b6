/** Parses what the statements of likely matches return, and reads the cells of rows. */
import { CELL_SEPARATOR } from '../graph/record.ts';
import { countryCode, countryOfPlace } from '../identifiers/country.ts';
import { remember } from '../lib/remember.ts';
import { type CompanyName, parseCompanyName, readCompanyName } from '../match/company-words.ts';
import type { CompanyRow } from '../match/compare-company.ts';
import {
  type CompanyCard,
  type PersonCard,
  type PersonRow,
  placeParts,
  titleWords,
} from '../match/compare-person.ts';
import { type StoredName, storedName } from '../match/compare-persons.ts';
import { type NotACompany, readListedCompany } from '../match/listed-company.ts';
import { type NotAName, readNameColumns, readPersonName } from '../match/person-name.ts';
import { countryOfDomain, foldPlaceName } from '../match/place.ts';
import type { LikelyCells } from './likely-row.ts';
import type { GraphNames } from './name-frequencies.ts';

const SEPARATOR_OF_CARDS = '\u001e';
const SEPARATOR_OF_GROUPS = '\u001e';
const SEPARATOR_OF_PEOPLE = '\u001e\u001e';

/** Reads a row about a person; a text is the reason why its name is not usable. */
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
  return (
    (locality === '' ? null : countryOfPlace(locality)) ??
    (register === '' ? null : countryCode(register)) ??
    countryOfDomain(domain)
  );
}

function placeOf(locality: string, city: string): string[] {
  const parts = placeParts(...locality.split(','));
  const [named] = placeParts(city);
  return named === undefined || parts.includes(named) ? parts : [named, ...parts];
}

const TEXTS_KEPT = 20_000;
/** Few given names are those of most people. */
const readPart = remember((text) => readPersonName(text, true), TEXTS_KEPT);
/** Of namesakes one object, which is compared once for a row. */
const readStoredName = remember((cells) => {
  const end = cells.indexOf(CELL_SEPARATOR);
  return storedName(readPart(cells.slice(0, end)), readPart(cells.slice(end + 1)));
}, TEXTS_KEPT);

/** A stored person with the employers, which `employersIn` reads; the rest is read when a row has a value to compare with. */
export class ReadPerson implements PersonCard {
  readonly id: number;
  readonly name: StoredName;
  readonly companyId: number;
  readonly currentCompanyId: number;
  readonly pastCompanyId: number;
  readonly pastCompany: string;
  readonly #title: string;
  readonly #home: string;
  readonly #names: GraphNames;

  constructor(text: string, names: GraphNames) {
    // By index: a list has some twenty candidates a row, and each part of a text is garbage.
    const person = text.indexOf(SEPARATOR_OF_GROUPS) + 1;
    const work = text.indexOf(SEPARATOR_OF_GROUPS, person) + 1;
    const home = text.indexOf(SEPARATOR_OF_GROUPS, work) + 1;
    const title = text.lastIndexOf(CELL_SEPARATOR, work - 1) + 1;
    const current = text.indexOf(CELL_SEPARATOR, work) + 1;
    const past = text.indexOf(CELL_SEPARATOR, current) + 1;
    const pastCompany = text.indexOf(CELL_SEPARATOR, past) + 1;
    this.id = digitsAt(text, 0);
    this.name = readStoredName(text.slice(person, title - 1));
    this.companyId = digitsAt(text, work);
    this.currentCompanyId = digitsAt(text, current);
    this.pastCompanyId = digitsAt(text, past);
    this.pastCompany = text.slice(pastCompany, home - 1);
    this.#title = text.slice(title, work - 1);
    this.#home = text.slice(home);
    this.#names = names;
  }

  get title(): readonly string[] {
    return titleWords(this.#title);
  }

  get place(): readonly string[] {
    return readHome(this.#home).place;
  }

  get country(): string | null {
    const { countryId, country } = readHome(this.#home);
    return this.#names.countryOf(countryId) ?? country;
  }
}

const ZERO = 48;
const NINE = 57;

/** Reads the number that begins at a place of a text. */
function digitsAt(text: string, place: number): number {
  let number = 0;
  for (let at = place; ; at++) {
    const code = text.charCodeAt(at);
    if (!(code >= ZERO && code <= NINE)) return number;
    number = number * 10 + code - ZERO;
  }
}

/** Parses the text of `readPersonCards`; returns the people by their ids. */
export function parsePersonCards(text: string, names: GraphNames): Map<number, ReadPerson> {
  const people = new Map<number, ReadPerson>();
  for (const one of text === '' ? [] : text.split(SEPARATOR_OF_PEOPLE)) {
    const person = new ReadPerson(one, names);
    people.set(person.id, person);
  }
  return people;
}

const readHome = remember((text) => {
  const [locality = '', city = '', countryId = '', domain = ''] = text.split(CELL_SEPARATOR);
  return {
    place: placeOf(locality, city),
    countryId: Number(countryId),
    country: countryInWords(locality, '', domain),
  };
}, TEXTS_KEPT);

/** The companies of people, besides what their cards say. */
export interface Employment {
  /** Companies of which a person is an officer. */
  offices: ReadonlyMap<number, readonly number[]>;
  /** Names of companies, by their ids. */
  names: ReadonlyMap<number, string>;
}

/** Parses the texts of `readOffices` and `readCompanyNames`. */
export function parseEmployment(offices: string, names: string): Employment {
  const companiesOf = new Map<number, number[]>();
  for (const line of offices === '' ? [] : offices.split('\n')) {
    const [person, company] = line.split(' ').map(Number);
    const own = companiesOf.get(person ?? 0);
    if (own === undefined) companiesOf.set(person ?? 0, [company ?? 0]);
    else own.push(company ?? 0);
  }
  const nameOf = new Map<number, string>();
  for (const company of names === '' ? [] : names.split(SEPARATOR_OF_CARDS)) {
    const end = company.indexOf(CELL_SEPARATOR);
    nameOf.set(Number(company.slice(0, end)), company.slice(end + 1));
  }
  return { offices: companiesOf, names: nameOf };
}

/** Returns the employers of a person: those of `known` with all their names, others by the name that the person's record has. */
export function employersIn(
  { id: personId, companyId, currentCompanyId, pastCompanyId, pastCompany }: ReadPerson,
  { offices, names }: Employment,
  known: ReadonlyMap<number, CompanyCard>,
): readonly CompanyCard[] {
  const cards: CompanyCard[] = [];
  addKnown(cards, known, companyId);
  addKnown(cards, known, currentCompanyId);
  addKnown(cards, known, pastCompanyId);
  for (const id of offices.get(personId) ?? []) addKnown(cards, known, id);
  if (!known.has(companyId)) addNamed(cards, companyId, names.get(companyId) ?? '');
  if (!known.has(pastCompanyId)) addNamed(cards, pastCompanyId, pastCompany);
  return cards;
}

function addKnown(cards: CompanyCard[], known: ReadonlyMap<number, CompanyCard>, id: number): void {
  const card = known.get(id);
  if (card !== undefined && !cards.includes(card)) cards.push(card);
}

/** Reads the name, and remembers nothing: most employers of candidates are those that the row may mean, or compared once. */
function addNamed(cards: CompanyCard[], id: number, text: string): void {
  const name = text === '' ? null : parseCompanyName(text);
  if (name !== null) cards.push({ id, names: [name], place: [], country: null });
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
