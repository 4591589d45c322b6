/** Says in words what a probability rests on. */

import type { CompanyLevel } from './compare-companies.ts';
import type { CompanyComparison } from './compare-company.ts';
import type { PersonComparison } from './compare-person.ts';
import { type Frequencies, rarityOf } from './levels.ts';

const familyWords: Record<PersonComparison['name']['family'], string> = {
  equal: 'equal',
  sound: 'equal in sound',
  slip: 'equal but for one letter',
  part: 'equal in part',
  initial: 'only an initial',
  missing: 'missing',
  none: 'differs',
};
const givenWords: Record<PersonComparison['name']['given'], string> = {
  equal: 'equal',
  other: 'equal, in another place',
  nickname: 'equal as a short form',
  sound: 'equal in sound',
  slip: 'equal but for one letter',
  initial: 'only an initial',
  start: 'equal in its beginning',
  missing: 'missing',
  none: 'differs',
};
const companyWords: Record<CompanyLevel, string> = {
  same: 'equal',
  equal: 'equal but for its legal form',
  order: 'equal in another order of words',
  spaced: 'equal but for spaces',
  abbreviated: 'equal but for an abbreviation',
  slip: 'equal but for one letter',
  branch: 'equal but for a country',
  group: 'equal but for words such as group',
  kind: 'equal but for the kind of institution',
  acronym: 'equal to its initials',
  shorter: 'a part of it',
  longer: 'longer',
  overlap: 'equal in part',
  none: 'differs',
};
const placeWords = {
  equal: 'equal',
  region: 'in the region',
  missing: '',
  unknown: 'not known',
  differ: 'differs',
};
const titleWords = { equal: 'equal', overlap: 'equal in part', missing: '', differ: 'differs' };

/** Bits from which a name is rare: fewer than one person in eight graphs has it by chance. */
const RARE_BITS = 3;
const COMMON_BITS = 0;

function joined(parts: readonly (readonly [field: string, words: string])[]): string {
  return parts.flatMap(([field, words]) => (words === '' ? [] : [`${field} ${words}`])).join('; ');
}

/** Says what speaks for and against a person: `surname equal; given name equal as a short form; city differs`. */
export function explainPerson(compared: PersonComparison, frequencies: Frequencies): string {
  const { name, company, country, city, title } = compared;
  const bits = rarityOf(compared, frequencies);
  const rarity = bits >= RARE_BITS ? 'rare' : bits < COMMON_BITS ? 'common' : '';
  const middle =
    name.middle === 'differ' ? 'differs' : name.middle === 'agree' ? 'equal or an initial' : '';
  return joined([
    ['surname', familyWords[name.family]],
    ['given name', givenWords[name.given]],
    ['middle name', middle],
    ['name', rarity],
    ['company', company === 'missing' ? '' : companyWords[company]],
    ['title', titleWords[title]],
    ['city', placeWords[city]],
    ['country', placeWords[country]],
  ]);
}

/** Says what speaks for and against a company. */
export function explainCompany(compared: CompanyComparison): string {
  const { level, form, isMain, country, city, apart } = compared;
  const formWords = form === 'differ' ? 'differs' : form === 'one_side' ? 'on one side only' : '';
  const name = level === 'equal' && form === 'equal' ? 'equal' : companyWords[level];
  return joined([
    [isMain ? 'name' : 'alias or former name', name],
    ['words apart:', apart.slice(0, 3).join(', ')],
    ['legal form', level === 'same' ? '' : formWords],
    ['town', placeWords[city]],
    ['country', placeWords[country]],
  ]);
}
