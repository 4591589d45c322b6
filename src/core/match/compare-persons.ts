/**
 * Compares the words of two person names and says how they relate, field by field: the levels of the score. Pure and
 * total. One side's division into given and family name is known (a stored record), the other's may be.
 */
import { isInitial } from './latin.ts';
import type { NameWord, PersonName } from './person-name.ts';
import {
  type GivenRelation,
  initialsOf,
  isByInitial,
  rank,
  relateGiven,
  unsure,
} from './relate-given.ts';
import { relateWords, type WordLevel } from './relate-words.ts';

export type FamilyLevel = 'equal' | 'sound' | 'slip' | 'part' | 'initial' | 'missing' | 'none';
export interface NameRelation extends GivenRelation {
  family: FamilyLevel;
  /** As of the given name: the stored word that agreed, and the word of the row; '' for none. */
  familyWord: string;
  listedFamily: string;
  /** True when the row states an order and the record has the other. */
  isSwapped: boolean;
}

export interface StoredName {
  given: readonly NameWord[];
  family: readonly NameWord[];
  also: readonly string[];
  generation: string;
}

/** Cost from which a record is believed to have given and family name swapped. */
const TURN_COST = 3;
const familyLevels: readonly WordLevel[] = ['equal', 'sound', 'slip'];

/** The listed name compared last, with its relations: most candidates of a row among many people are namesakes. */
let listed: PersonName | null = null;
const related = new Map<StoredName, NameRelation>();

/** Compares a row's name with a stored one, in both divisions of the stored name. */
export function relateNames(row: PersonName, stored: StoredName): NameRelation {
  if (row !== listed) {
    listed = row;
    related.clear();
  }
  let relation = related.get(stored);
  if (relation === undefined) {
    relation = relate(row, stored);
    related.set(stored, relation);
  }
  return relation;
}

/** Father and son of one name are two people, when both sides state which. */
function relate(row: PersonName, stored: StoredName): NameRelation {
  const relation = relateBothWays(row, stored);
  const isStated = row.generation !== '' && stored.generation !== '';
  return isStated && row.generation !== stored.generation
    ? { ...relation, middle: 'differ' }
    : relation;
}

/**
 * Of `Earl John Carter`, John may be the given name, but no one without a given name, or with an initial, is meant: `Earl Carter`
 * is no Carter of any name, nor `Earl L. Carter` a Linda or an L. Carter. Nor is `Sheikh Omar Carter` another sheikh.
 */
function relateBothWays(row: PersonName, stored: StoredName): NameRelation {
  const whole = relateInOrder(row, stored);
  if (row.untitled === undefined) return whole;
  const untitled = relateInOrder(row.untitled, stored);
  const isTitle = !row.untitled.words.some(({ text }) => text === whole.listedGiven);
  if (untitled.given === 'none' && isTitle && whole.given !== 'equal') return untitled;
  const isGiven = untitled.given !== 'missing' && !isByInitial(untitled);
  return isGiven && costOf(untitled) <= costOf(whole) ? untitled : whole;
}

function relateInOrder(row: PersonName, stored: StoredName): NameRelation {
  const straight = relateDivided(row, stored.given, stored.family, stored.also);
  if (isGood(straight)) return straight;
  // A short form or a title beside the names is none of the family name: `Hon John Hogg` is not `Hon John Faulkner`.
  const turned = relateDivided(row, stored.family, stored.given, []);
  // The initial of a family name is no given name: `Jennifer R. Coffey` is not `Jennifer Rhodes`.
  if (turned.given === 'initial' || isInitial(turned.familyWord)) return straight;
  // Nor are two given names a family name that is misspelt.
  if (straight.family === 'equal' && turned.family === 'slip') return straight;
  // Nor does a surname have a beginning or a short form: neither is `Anna Wallenberg` `Anna Wall`, nor `Peter Francis` `Peter
  // Frank`.
  if (unsure.has(turned.given)) return straight;
  const isSimilar = turned.given === 'sound' || turned.given === 'nickname';
  if (straight.given === 'equal' && isSimilar) return straight;
  return costOf(turned) + TURN_COST < costOf(straight) ? { ...turned, isSwapped: true } : straight;
}

function isGood({ family, given }: NameRelation): boolean {
  return family === 'equal' && given !== 'none' && given !== 'missing';
}

const familyCost: Record<FamilyLevel, number> = {
  equal: 0,
  sound: 2,
  slip: 3,
  part: 3,
  initial: 7,
  missing: 7,
  none: 12,
};

function costOf({ family, given, middle }: NameRelation): number {
  return familyCost[family] + rank[given] + (middle === 'differ' ? 2 : 0);
}

function relateDivided(
  row: PersonName,
  given: readonly NameWord[],
  family: readonly NameWord[],
  also: readonly string[],
): NameRelation {
  const left = [...row.words];
  const familyLeft: NameWord[] = [];
  let worst = 0;
  let familyWord = '';
  let listedFamily = '';
  let matched = 0;
  for (const word of family) {
    const { index, level } = bestFamily(left, word);
    if (index === -1) {
      familyLeft.push(word);
      continue;
    }
    if (word.text.length > familyWord.length) listedFamily = left[index]?.text ?? '';
    left.splice(index, 1);
    matched += 1;
    worst = Math.max(worst, level);
    if (word.text.length > familyWord.length) familyWord = word.text;
  }
  let level: FamilyLevel = 'none';
  if (family.length === 0) level = 'missing';
  else if (matched === family.length) level = familyLevels[worst] as FamilyLevel;
  else if (joinedEqual(row, family, given)) {
    return { ...joinedWhole(family, given), listedGiven: row.words.at(-1)?.text ?? '' };
  } else if (matched > 0) level = worst === 0 ? 'part' : 'none';
  else {
    const joined = joinedFamily(left, family);
    if (joined !== null) {
      level = 'equal';
      familyWord = family.map(({ text }) => text).join('');
      familyLeft.length = 0;
      left.splice(joined, 2);
    } else {
      const initial = left.findIndex(
        (word) => isInitial(word.text) && word.text === family.at(-1)?.text[0],
      );
      if (initial !== -1 && left.length > 1) {
        level = 'initial';
        left.splice(initial, 1);
      }
    }
  }
  return {
    ...relateGiven(left, row, given, familyLeft, also),
    family: level,
    familyWord,
    listedFamily,
    isSwapped: false,
  };
}

function bestFamily(left: readonly NameWord[], word: NameWord): { index: number; level: number } {
  let index = -1;
  let level = familyLevels.length;
  // By index: for each of some hundred candidates of a row, an iterator would be garbage.
  for (let place = 0; place < left.length; place++) {
    const found = familyLevels.indexOf(relateFamilies(left[place] as NameWord, word));
    if (found === -1 || found >= level) continue;
    index = place;
    level = found;
  }
  return { index, level };
}

/** `Novak` and `Novakova` are one name. */
function relateFamilies(one: NameWord, other: NameWord): WordLevel {
  const level = relateWords(one, other);
  const [short, long] = one.text.length < other.text.length ? [one, other] : [other, one];
  return level === 'start' && long.text === `${short.text}ova` ? 'sound' : level;
}

/** `Mc Leod` and `McLeod`: two neighbouring words of the row are the family name in one. */
function joinedFamily(left: readonly NameWord[], family: readonly NameWord[]): number | null {
  const whole = family.map(({ joined }) => joined).join('');
  for (let index = 0; index + 1 < left.length; index++) {
    if (`${left[index]?.joined}${left[index + 1]?.joined}` === whole) return index;
  }
  return null;
}

function joinedEqual(
  row: PersonName,
  family: readonly NameWord[],
  given: readonly NameWord[],
): boolean {
  if (given.length === 0) return false;
  const text = (all: readonly NameWord[]) => all.map(({ joined }) => joined).join('');
  const ours = text(row.words);
  if (initialsOf(row.words) !== initialsOf(given) + initialsOf(family)) return false;
  return ours === text(given) + text(family) || ours === text(family) + text(given);
}

function joinedWhole(family: readonly NameWord[], given: readonly NameWord[]): NameRelation {
  return {
    family: 'equal',
    given: 'equal',
    middle: 'none',
    familyWord: family.map(({ text }) => text).join(''),
    givenWord: given[0]?.text ?? '',
    listedFamily: '',
    listedGiven: '',
    isSwapped: false,
  };
}

/** Divides a stored name as its columns do. A title that may be a given name is a further one. */
export function storedName(given: PersonName | string, family: PersonName | string): StoredName {
  const wordsOf = (name: PersonName | string) =>
    typeof name === 'string' ? [] : (name.untitled ?? name).words;
  const alsoOf = (name: PersonName | string) =>
    typeof name === 'string' ? [] : [...name.also, ...titlesOf(name)];
  const generationIn = (name: PersonName | string) =>
    typeof name === 'string' ? '' : name.generation;
  return {
    given: wordsOf(given),
    family: wordsOf(family),
    also: [...alsoOf(given), ...alsoOf(family)],
    generation: generationIn(family) || generationIn(given),
  };
}

function titlesOf({ words, untitled }: PersonName): string[] {
  if (untitled === undefined) return [];
  const kept = new Set(untitled.words.map(({ text }) => text));
  return words.flatMap(({ text }) => (kept.has(text) ? [] : [text]));
}
