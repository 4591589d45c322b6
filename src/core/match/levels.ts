/**
 * The levels of a comparison as the score sees them: the name of each level that holds, with a number (1 for most). The
 * weights have one entry for each name.
 */
import type { CompanyLevel } from './compare-companies.ts';
import type { CompanyComparison } from './compare-company.ts';
import type { PersonComparison } from './compare-person.ts';

/** Name of a level, and how much of it there is. */
export type Levels = [name: string, amount: number][];

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

/** Returns the levels of a row's comparison with a person. */
export function personLevels(compared: PersonComparison, frequencies: Frequencies): Levels {
  const { name, company, country, city, title } = compared;
  const isCompany = strongCompanyLevels.has(company);
  const context = isCompany ? 'company' : company === 'missing' ? 'no_company' : 'other_company';
  const place = city === 'equal' ? 'city' : country === 'equal' ? 'country' : 'none';
  const levels: Levels = [
    [`bias`, 1],
    [`family.${name.family}`, 1],
    [`given.${name.given}`, 1],
    [`middle.${name.middle}`, 1],
    [`company.${company}`, 1],
    [`country.${country}`, 1],
    [`city.${city}`, 1],
    [`title.${title}`, 1],
    [`rarity.${context}`, rarityOf(compared, frequencies)],
  ];
  if (name.isSwapped) levels.push(['order.swapped', 1]);
  if (unsureLevels.has(name.given) && frequencies.givenOf(name.listedGiven) > 1) {
    levels.push([`given.${name.given}_known`, 1]);
  }
  if (unsureLevels.has(name.family) && frequencies.familyOf(name.listedFamily) > 1) {
    levels.push([`family.${name.family}_known`, 1]);
  }
  if (isCompany && compared.companyId !== 0) {
    const staff = Math.max(1, frequencies.peopleAt(compared.companyId));
    levels.push(['company.rarity', Math.log2(frequencies.people / staff) / 10]);
  }
  if (!isCompany) levels.push([`${context}.${place}`, 1]);
  if (context === 'no_company' && title === 'equal') levels.push(['no_company.title', 1]);
  if (name.family !== 'equal' && name.given !== 'equal') levels.push(['name.neither', 1]);
  return levels;
}

/** Returns the levels of a row's comparison with a company. */
export function companyLevelsOf(compared: CompanyComparison, frequencies: Frequencies): Levels {
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
  const context = wholeLevels.has(level) ? 'whole' : level === 'slip' ? 'slip' : 'part';
  const levels: Levels = [
    ['bias', 1],
    [`name.${level}`, 1],
    [`form.${form}`, 1],
    [`${context}.main.${isMain}`, 1],
    [`country.${country}`, 1],
    [`city.${city}`, 1],
    [`${context}.shared`, rarity / 10],
  ];
  if (apart.length > 0) levels.push([`${context}.apart`, distance]);
  if (isFormForeign) levels.push(['form.foreign', 1]);
  if (context === 'part') levels.push([`part.country.${country}`, 1]);
  if (level === 'slip') {
    levels.push([frequencies.companiesOf(slipped) > 1 ? 'slip.known' : 'slip.unknown', 1]);
    levels.push(['slip.length', Math.min(12, shared.join('').length) / 4]);
  }
  if (level === 'branch') levels.push([`branch.${country}.${form}`, 1]);
  return levels;
}
