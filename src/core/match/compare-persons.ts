/**
 * Compares the words of two person names and says how they relate, field by field: the levels of the score. Pure and
 * total. One side's division into given and family name is known (a stored record), the other's may be.
 */
import { isInitial } from './latin.ts';
import { areNicknames } from './nicknames.ts';
import { isParticle, type NameWord, type PersonName } from './person-name.ts';
import { relateWords, type WordLevel } from './relate-words.ts';

export type FamilyLevel = 'equal' | 'sound' | 'slip' | 'part' | 'initial' | 'missing' | 'none';
export type GivenLevel =
  | 'equal'
  | 'other'
  | 'nickname'
  | 'sound'
  | 'slip'
  | 'initial'
  | 'start'
  | 'missing'
  | 'none';
export type MiddleLevel = 'none' | 'agree' | 'one_side' | 'differ';

export interface NameRelation {
  family: FamilyLevel;
  given: GivenLevel;
  middle: MiddleLevel;
  /** The stored words that agreed, for their frequency; '' for none. */
  familyWord: string;
  givenWord: string;
  /** The words of the row that were taken for them; '' for none. */
  listedFamily: string;
  listedGiven: string;
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
/** The part of a woman's name behind the man's from which it is formed. */
const FEMININE_ENDING = /^(?:a|e|ia|ie|ina|ine|etta|ette|ella|elle)$/;

const familyLevels: readonly WordLevel[] = ['equal', 'sound', 'slip'];
const rank: Record<GivenLevel, number> = {
  equal: 0,
  nickname: 1,
  sound: 2,
  other: 3,
  slip: 4,
  start: 5,
  initial: 6,
  missing: 7,
  none: 8,
};

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
 * is no Carter of any name, nor `Earl L. Carter` a Linda.
 */
function relateBothWays(row: PersonName, stored: StoredName): NameRelation {
  const whole = relateInOrder(row, stored);
  if (row.untitled === undefined) return whole;
  const untitled = relateInOrder(row.untitled, stored);
  const isGiven = untitled.given !== 'missing' && untitled.given !== 'initial';
  return isGiven && costOf(untitled) <= costOf(whole) ? untitled : whole;
}

function relateInOrder(row: PersonName, stored: StoredName): NameRelation {
  const straight = relateDivided(row, stored.given, stored.family, stored.also);
  if (isGood(straight)) return straight;
  const turned = relateDivided(row, stored.family, stored.given, stored.also);
  // The initial of a family name is no given name: `Jennifer R. Coffey` is not `Jennifer Rhodes`.
  if (turned.given === 'initial' || isInitial(turned.familyWord)) return straight;
  // Nor are two given names a family name that is misspelt.
  if (straight.family === 'equal' && turned.family === 'slip') return straight;
  // Nor is the given name the family name, so that a similar part of a surname is the given name: `Maria Lopes`, `Maria Vega
  // Lopez`.
  const isSimilarPart = stored.family.length > 1 && isSimilar(turned.given);
  if (straight.given === 'equal' && isSimilarPart) return straight;
  return costOf(turned) + TURN_COST < costOf(straight) ? { ...turned, isSwapped: true } : straight;
}

function isSimilar(level: GivenLevel): boolean {
  return level === 'sound' || level === 'slip' || level === 'start';
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
    const found = familyLevels.indexOf(relateWords(left[place] as NameWord, word));
    if (found === -1 || found >= level) continue;
    index = place;
    level = found;
  }
  return { index, level };
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

/** Returns how many of these words, the first ones, are of the family name that the row states. */
function ofStatedFamily(left: readonly NameWord[], row: PersonName): number {
  if (row.family === 0) return 0;
  return left.filter((word) => row.words.indexOf(word) < row.family).length;
}

type GivenRelation = Pick<NameRelation, 'given' | 'middle' | 'givenWord' | 'listedGiven'>;

function relateGiven(
  left: readonly NameWord[],
  row: PersonName,
  given: readonly NameWord[],
  familyLeft: readonly NameWord[],
  also: readonly string[],
): GivenRelation {
  const extra = familyLeft.length > 0;
  if (left.length === 0 || given.length === 0) {
    const middle = extra || left.length > 0 ? 'one_side' : 'none';
    return { given: 'missing', middle, givenWord: '', listedGiven: left[0]?.text ?? '' };
  }
  const text = (all: readonly NameWord[]) => all.map(({ joined }) => joined).join('');
  if (text(left) === text(given) && areDividedAlike(left, given)) {
    return {
      given: 'equal',
      middle: 'none',
      givenWord: given[0]?.text ?? '',
      listedGiven: left[0]?.text ?? '',
    };
  }
  let best: { level: GivenLevel; row: number; stored: number } = {
    level: 'none',
    row: 0,
    stored: 0,
  };
  const before = ofStatedFamily(left, row);
  // `Van Hollen C` has none before the initial, `Ben C. Hollen` has one.
  const isName = (word: NameWord) =>
    !isParticle(word.text) || isInitial(row.words[row.words.indexOf(word) + 1]?.text ?? '');
  const firstGiven = left.slice(before).find(isName)?.text ?? '';
  for (let rowAt = 0; rowAt < left.length; rowAt++) {
    const ours = left[rowAt] as NameWord;
    for (let storedAt = 0; storedAt < given.length; storedAt++) {
      const theirs = given[storedAt] as NameWord;
      const found = givenLevel(ours, theirs, rowAt, storedAt);
      // Behind a whole given name, an initial is that of a middle name: `Hugo R. Adler` is not `Robert Adler`.
      const isOfMiddle = rowAt > before && !isInitial(firstGiven);
      const level = found === 'initial' && isOfMiddle ? 'none' : found;
      const penalty = rowAt + storedAt;
      const known = best.row + best.stored;
      if (rank[level] < rank[best.level] || (level === best.level && penalty < known)) {
        best = { level, row: rowAt, stored: storedAt };
      }
    }
    if (also.some((other) => other === ours.text || areNicknames(other, ours.text))) {
      best = { level: 'nickname', row: rowAt, stored: 0 };
    }
  }
  const listedGiven = left[best.row]?.text ?? '';
  const givenWord = given[best.stored]?.text ?? '';
  const ourRest = left.filter((_, index) => index !== best.row);
  const theirRest = [...given.filter((_, index) => index !== best.stored), ...familyLeft];
  const middle = relateRest(ourRest, theirRest);
  const isOther = best.level === 'initial' && middle !== 'agree' && hasOtherFamily(left, row);
  return { given: isOther ? 'none' : best.level, middle, givenWord, listedGiven };
}

/**
 * `Clark J. Ridley` and `Ridley, Clark J.` leave a family name of their own: no one called Clark is meant. `Berg J. van der` has
 * none.
 */
function hasOtherFamily(left: readonly NameWord[], row: PersonName): boolean {
  const family = row.family === 0 ? row.words.slice(-1) : row.words.slice(0, row.family);
  const isName = ({ text }: NameWord) => !isInitial(text) && !isParticle(text);
  return family.every((word) => isName(word) && left.includes(word));
}

/** `Roberta` is not `Robert A.`, but `JR` is `J. R.`, and `Mary Ann` is `Maryann`. */
function areDividedAlike(ours: readonly NameWord[], theirs: readonly NameWord[]): boolean {
  if (ours.length === theirs.length) return true;
  return [ours, theirs].every((all) => {
    const initials = initialsOf(all);
    return initials === 0 || initials === all.length;
  });
}

function initialsOf(all: readonly NameWord[]): number {
  return all.filter(({ text }) => isInitial(text)).length;
}

/** `Ivana` is neither `Ivan` misspelt nor its long form. */
function isOfOtherGender(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return long.startsWith(short) && FEMININE_ENDING.test(long.slice(short.length));
}

function givenLevel(ours: NameWord, theirs: NameWord, rowAt: number, storedAt: number): GivenLevel {
  const level = relateWords(ours, theirs);
  if (level === 'equal' && rowAt === 0 && storedAt === 0) return 'equal';
  if (level === 'equal' && !isInitial(ours.text)) return 'other';
  if (level === 'equal' || level === 'initial') return storedAt > 0 ? 'none' : 'initial';
  const isUnsure = level === 'slip' || level === 'start';
  return isUnsure && isOfOtherGender(ours.text, theirs.text) ? 'none' : level;
}

/** Relates the words that neither given name nor family name explains. */
function relateRest(ours: readonly NameWord[], theirs: readonly NameWord[]): MiddleLevel {
  if (ours.length === 0 && theirs.length === 0) return 'none';
  if (ours.length === 0 || theirs.length === 0) return 'one_side';
  const left = [...theirs];
  let agreeing = 0;
  let differing = 0;
  for (const word of ours) {
    const index = left.findIndex((other) => relateWords(word, other) !== 'none');
    if (index === -1) {
      differing += 1;
      continue;
    }
    agreeing += 1;
    left.splice(index, 1);
  }
  if (agreeing > 0 && differing === 0) return 'agree';
  return differing > 0 && left.length > 0 ? 'differ' : 'one_side';
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
