/** Compares the given names of a row with stored ones. Pure and total. */
import { isInitial } from './latin.ts';
import { lettersOfDegrees } from './name-words.ts';
import { areNicknames, isGivenName } from './nicknames.ts';
import { isOfName, isParticle, type NameWord, type PersonName } from './person-name.ts';
import { relateWords, type WordLevel } from './relate-words.ts';

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

export interface GivenRelation {
  given: GivenLevel;
  middle: MiddleLevel;
  /** The stored word that agreed, for its frequency; '' for none. */
  givenWord: string;
  /** The word of the row that was taken for it; '' for none. */
  listedGiven: string;
}

/** The part of a woman's name behind the man's from which it is formed. */
const FEMININE_ENDING = /^(?:a|e|ia|ie|ina|ine|etta|ette|ella|elle)$/;

/** How far given names are apart. */
export const rank: Record<GivenLevel, number> = {
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

/** Levels that two names may have as well. */
export const unsure: ReadonlySet<GivenLevel | WordLevel> = new Set(['slip', 'start']);

/** True for given names of which one side has the initial only. */
export function isByInitial({
  given,
  givenWord,
}: Pick<GivenRelation, 'given' | 'givenWord'>): boolean {
  return given === 'initial' || (given === 'equal' && isInitial(givenWord));
}

/** Returns how many of these words, the first ones, are of the family name that the row states. */
function ofStatedFamily(left: readonly NameWord[], row: PersonName): number {
  if (row.family === 0) return 0;
  return left.filter((word) => row.words.indexOf(word) < row.family).length;
}

/**
 * Relates the words of a row that are not of the family name with stored given names; `familyLeft` are the words of the stored
 * family name that the row lacks.
 */
export function relateGiven(
  left: readonly NameWord[],
  row: PersonName,
  given: readonly NameWord[],
  familyLeft: readonly NameWord[],
  also: readonly string[],
): GivenRelation {
  const extra = familyLeft.length > 0;
  if (left.length === 0 || given.length === 0) {
    const middle = extra || left.length > 0 ? 'one_side' : 'none';
    // Of `Martin Vega`, Martin is no part of the surname of `Anna Vega Martin`.
    const isOther =
      given.length > 0 && row.words.length > 1 && isGivenName(row.words[row.family]?.text ?? '');
    const level = isOther ? 'none' : givenByDegree(row, given);
    return { given: level, middle, givenWord: '', listedGiven: left[0]?.text ?? '' };
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
  const hasGiven = firstGiven !== '' && !isInitial(firstGiven);
  for (let rowAt = 0; rowAt < left.length; rowAt++) {
    const ours = left[rowAt] as NameWord;
    // Beside a whole given name, an initial is that of a middle name: `Hugo R. Adler` is not `Robert Adler`.
    const isOfMiddle = rowAt !== before && hasGiven;
    const isFirst = ours === row.words[row.family];
    for (let storedAt = 0; storedAt < given.length; storedAt++) {
      const theirs = given[storedAt] as NameWord;
      const found = givenLevel(ours, theirs, rowAt, storedAt);
      // Only the first names may be one that is misspelt: `Hugo Lord Adler` is not `Lori Adler`.
      const isOther = unsure.has(found) && (!isFirst || storedAt > 0);
      const level = isOther || (found === 'initial' && isOfMiddle) ? 'none' : found;
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
  // `Yong Nam` is no short form of `Yongtae`.
  const restOfShort = givenWord.length < listedGiven.length ? theirRest : ourRest;
  const isPartOfTwo = best.level === 'start' && restOfShort.some(({ text }) => !isInitial(text));
  // `M. Christian Adler`, listed or stored, uses the whole name: neither is `Michael Adler`.
  const beside = isInitial(listedGiven) ? left.slice(before) : given;
  const isWhole = ({ text }: NameWord) =>
    !isInitial(text) && isOfName(text) && !lettersOfDegrees.has(text);
  const isUnused = best.level === 'initial' && beside.some(isWhole);
  const isOther =
    isPartOfTwo ||
    (middle !== 'agree' &&
      (isUnused || (isByInitial({ given: best.level, givenWord }) && hasOtherFamily(left, row))));
  return { given: isOther ? 'none' : best.level, middle, givenWord, listedGiven };
}

/** Both words of `Garcia Lopez, M. A.` are the surname of María Ángeles, and of Juan Garcia Lopez they are none. */
function givenByDegree({ words, degree }: PersonName, [first]: readonly NameWord[]): GivenLevel {
  if (words.length < 2 || degree === undefined || first === undefined) return 'missing';
  return first.text.startsWith(degree) ? 'initial' : 'none';
}

/**
 * `Clark J. Ridley` and `Ridley, Clark J.` leave a family name of their own: no one called Clark is meant. `Berg J. van der` has
 * none.
 */
function hasOtherFamily(left: readonly NameWord[], row: PersonName): boolean {
  const family = row.words.at(row.family === 0 ? -1 : 0);
  if (family === undefined || isInitial(family.text) || isParticle(family.text)) return false;
  return left.includes(family);
}

/** `Roberta` is not `Robert A.`, but `JR` is `J. R.`, and `Mary Ann` is `Maryann`. */
function areDividedAlike(ours: readonly NameWord[], theirs: readonly NameWord[]): boolean {
  if (ours.length === theirs.length) return true;
  return [ours, theirs].every((all) => {
    const initials = initialsOf(all);
    return initials === 0 || initials === all.length;
  });
}

/** Returns how many of these words are initials. */
export function initialsOf(all: readonly NameWord[]): number {
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
  return unsure.has(level) && isOfOtherGender(ours.text, theirs.text) ? 'none' : level;
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
