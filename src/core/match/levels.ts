/**
 * The levels of a comparison as the score sees them: the name of each level that holds, with a number (1 for most). The
 * weights have one entry for each name.
 */
import type { CompanyLevel } from './compare-companies.ts';
import type { CompanyComparison } from './compare-company.ts';
import type { PersonComparison } from './compare-person.ts';
import { isInitial } from './latin.ts';
import { isGivenName } from './nicknames.ts';

/** Receives a level that holds, and how much of it there is. */
export type AddLevel = (name: string, amount: number) => void;

/** Names of the levels of a field, each made once: a list has some thousands of rows with some candidates each. */
function namesOf(field: string): (level: string) => string {
  const known: Record<string, string> = {};
  return (level) => {
    known[level] ??= `${field}.${level}`;
    return known[level];
  };
}

/** Frequencies of words and employers in the graph. */
export interface Frequencies {
  people: number;
  /** People with a word as family name, and as given name; 1 for a word that few have, 0 for one that none has. */
  familyOf(word: string): number;
  givenOf(word: string): number;
  /** People of a company. */
  peopleAt(company: number): number;
  companies: number;
  /** Companies with a word in their names. */
  companiesOf(word: string): number;
}

/** Share of the people with one initial. */
const INITIAL_SHARE = 1 / 12;
const RARITY_MAX = 12;
const RARITY_MIN = -6;
const BITS_MAX = 15;

const wholeLevels: ReadonlySet<string> = new Set([
  'same',
  'equal',
  'order',
  'spaced',
  'abbreviated',
]);

/** Levels that two names may have as well; a word that is no name is more likely one of them misspelt. */
const unsureLevels: ReadonlySet<string> = new Set(['slip', 'sound', 'start']);

const strong = [
  'same',
  'equal',
  'order',
  'spaced',
  'abbreviated',
  'slip',
  'branch',
  'acronym',
  'group',
] as const satisfies CompanyLevel[];
export type StrongLevel = (typeof strong)[number];
/** Levels of two company names that may be one employer. */
export const strongCompanyLevels: ReadonlySet<CompanyLevel | 'missing'> = new Set(strong);

/** Returns minus log2 of the number of people who would have a name that fits like this one by chance. */
export function rarityOf({ name }: PersonComparison, frequencies: Frequencies): number {
  const { people } = frequencies;
  const family =
    name.family === 'initial'
      ? people * INITIAL_SHARE
      : name.family === 'missing' || name.family === 'none'
        ? people
        : Math.max(1, frequencies.familyOf(name.familyWord)) * (name.family === 'slip' ? 4 : 1);
  const given =
    name.given === 'initial'
      ? people * INITIAL_SHARE
      : name.given === 'missing' || name.given === 'none'
        ? people
        : Math.max(1, frequencies.givenOf(name.givenWord)) *
          (name.given === 'slip' || name.given === 'start' ? 4 : 1);
  const expected = (family / people) * given;
  return Math.max(RARITY_MIN, Math.min(RARITY_MAX, -Math.log2(Math.max(expected, 1e-9))));
}

const levelNames = {
  family: namesOf('family'),
  given: namesOf('given'),
  middle: namesOf('middle'),
  company: namesOf('company'),
  country: namesOf('country'),
  city: namesOf('city'),
  title: namesOf('title'),
  rarity: namesOf('rarity'),
  no_company: namesOf('no_company'),
  other_company: namesOf('other_company'),
};

function contextOf({ company }: PersonComparison): 'company' | 'no_company' | 'other_company' {
  if (strongCompanyLevels.has(company)) return 'company';
  return company === 'missing' ? 'no_company' : 'other_company';
}

/** Tells the levels of a row's comparison with a person. */
export function addPersonLevels(
  compared: PersonComparison,
  frequencies: Frequencies,
  add: AddLevel,
): void {
  const { name, company, country, city, title } = compared;
  const context = contextOf(compared);
  add('bias', 1);
  add(levelNames.family(name.family), 1);
  add(levelNames.given(name.given), 1);
  add(levelNames.middle(name.middle), 1);
  add(levelNames.company(company), 1);
  add(levelNames.country(country), 1);
  add(levelNames.city(city), 1);
  add(levelNames.title(title), 1);
  add(levelNames.rarity(context), rarityOf(compared, frequencies));
  if (name.isSwapped) add('order.swapped', 1);
  // The names of a small graph are not all that there are.
  const isName = frequencies.givenOf(name.listedGiven) > 1 || isGivenName(name.listedGiven);
  if (unsureLevels.has(name.given) && isName) {
    add(`given.${name.given}_known`, 1);
  }
  if (unsureLevels.has(name.family) && frequencies.familyOf(name.listedFamily) > 1) {
    add(`family.${name.family}_known`, 1);
  }
  if (context !== 'company') {
    const place = city === 'equal' ? 'city' : country === 'equal' ? 'country' : 'none';
    add(levelNames[context](place), 1);
  } else if (compared.companyId !== 0) {
    const staff = Math.max(1, frequencies.peopleAt(compared.companyId));
    add('company.rarity', Math.log2(frequencies.people / staff) / 10);
  }
  if (context === 'no_company' && title === 'equal') add('no_company.title', 1);
  if (name.family !== 'equal' && name.given !== 'equal') add('name.neither', 1);
}

/**
 * Tells whether a row may match a person at all. Not when the middle names or generations are two, nor when nothing beside the
 * name was compared: a name alone matches no one, however rare it is. Nor does one without its given name, or with its initial,
 * in a country: the graph may have only one of the many `J. Miller` there.
 */
export function mayMatchPerson(compared: PersonComparison): boolean {
  const { name, company, country, city, title } = compared;
  if (name.middle === 'differ') return false;
  if (company !== 'missing' || city === 'equal') return true;
  if (name.given === 'missing' || name.given === 'initial' || isInitial(name.givenWord))
    return false;
  return country === 'equal' || country === 'differ' || city !== 'missing' || title !== 'missing';
}

/** The class of a comparison with a person: what beside the name agrees. */
export function personClass(compared: PersonComparison): string {
  const context = contextOf(compared);
  if (context !== 'company') return context;
  const { family, given } = compared.name;
  return family === 'equal' && given === 'equal' ? 'company_and_name' : 'company';
}

/** Tells the levels of a row's comparison with a company. */
export function addCompanyLevels(
  compared: CompanyComparison,
  frequencies: Frequencies,
  add: AddLevel,
): void {
  const { level, form, shared, apart, slipped, isMain, country, city, isFormForeign } = compared;
  const companies = Math.log2(frequencies.companies + 1);
  const bits = (words: readonly string[]) =>
    words.reduce(
      (sum, word) => sum + companies - Math.log2(Math.max(1, frequencies.companiesOf(word))),
      0,
    );
  // By chance, one company in as many has a name of `companies` bits: the size of the graph does not matter.
  const rarity = Math.max(-BITS_MAX, Math.min(BITS_MAX, bits(shared) - companies));
  const distance = Math.min(2, bits(apart) / companies);
  const context = partOf(compared);
  add('bias', 1);
  add(`name.${level}`, 1);
  add(`form.${form}`, 1);
  add(`${context}.main.${isMain}`, 1);
  add(levelNames.country(country), 1);
  add(levelNames.city(city), 1);
  add(`${context}.shared`, rarity / 10);
  if (apart.length > 0) add(`${context}.apart`, distance);
  if (isFormForeign) add('form.foreign', 1);
  if (context === 'part') add(`part.country.${country}`, 1);
  if (level === 'slip') {
    add(frequencies.companiesOf(slipped) > 1 ? 'slip.known' : 'slip.unknown', 1);
    add('slip.length', Math.min(12, shared.join('').length) / 4);
  }
  if (level === 'branch') add(`branch.${country}.${form}`, 1);
}

function partOf({ level }: CompanyComparison): 'whole' | 'slip' | 'part' {
  if (wholeLevels.has(level)) return 'whole';
  return level === 'slip' ? 'slip' : 'part';
}

/** The class of a comparison with a company: how much of the name agrees. */
export function companyClass(compared: CompanyComparison): string {
  return compared.level === 'acronym' ? 'acronym' : partOf(compared);
}
