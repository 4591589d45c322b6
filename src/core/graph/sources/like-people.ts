/**
 * Decides whether two records of people that share an email or a profile may be of one person. Families and offices share
 * mailboxes: husband and wife have one family name, father and son may have the whole name in common.
 */
import { fold } from '../../lib/fold.ts';
import { remember } from '../../lib/remember.ts';
import { generationOf, type NameWord, readPersonName } from '../../match/person-name.ts';
import { relateWords, type WordLevel } from '../../match/relate-words.ts';

/** The names, the birth and the values of a person in a record; '' for what it does not say. */
export interface PersonOfRecord {
  /** Given names, or a whole name. */
  name: string;
  surname: string;
  /** `1970-02-03`, or the year alone. */
  born: string;
  /** The values that it may share with another record. */
  keys: readonly string[];
}

const PROFILE = 'profile:';
const KEY = 'key:';
const NAMES_KEPT = 10_000;

/**
 * Returns true unless the records contradict each other: in their days of birth, as `Jr` and `Sr` or `Mr` and `Mrs`, or in
 * their names. Records that share a profile, which belongs to one person, must have a word of their names in common. All
 * others must have agreeing given names, also as nickname or initial. A slip is no agreement: `Maria` and `Mario` share a
 * mailbox. A missing value contradicts nothing. Records with the same key of one source are always one person.
 */
export function mayBeOnePerson(one: PersonOfRecord, other: PersonOfRecord): boolean {
  const share = (kind: string) =>
    one.keys.some((key) => key.startsWith(kind) && other.keys.includes(key));
  if (share(KEY)) return true;
  if (!areAlike(one.born, other.born)) return false;
  const [a, b] = [wholeName(one), wholeName(other)];
  if (a === b) return true;
  const wordsA = wordsOf(a);
  const wordsB = wordsOf(b);
  if (differ(generationOf(wordsA), generationOf(wordsB))) return false;
  if (differ(addressOf(wordsA), addressOf(wordsB))) return false;
  if (share(PROFILE)) {
    return wordsA.size === 0 || wordsB.size === 0 || [...wordsA].some((word) => wordsB.has(word));
  }
  return haveLikeNames(one, other);
}

/** A year and a day of it do not contradict each other. */
function areAlike(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a);
}

/** Returns true for two texts that are both there and not equal. */
function differ(a: string, b: string): boolean {
  return a !== '' && b !== '' && a !== b;
}

function wholeName({ name, surname }: PersonOfRecord): string {
  return fold(`${name} ${surname}`).trim();
}

/** Initials are no words, but single letters of scripts without capitals are: 王. */
const wordsOf = remember(
  (name) => new Set(name.match(/[\p{L}\p{N}]{2,}|\p{Lo}/gu) ?? []) as ReadonlySet<string>,
  NAMES_KEPT,
);

const men = new Set(['mr', 'mister', 'herr', 'monsieur', 'signor', 'senor']);
const women = new Set('mrs ms miss frau madame mme mlle signora senora sra srta'.split(' '));

/** Returns `man` or `woman` for a name that begins with a form of address, else ''. */
function addressOf(words: ReadonlySet<string>): string {
  const [first = ''] = words;
  return men.has(first) ? 'man' : women.has(first) ? 'woman' : '';
}

/** Relations of two words that are one name; a slip is none. */
const likeWords: ReadonlySet<string> = new Set<WordLevel>([
  'equal',
  'sound',
  'nickname',
  'initial',
]);
const COUPLE = /[&+/]|\s(?:and|und|et|og|och)\s/iu;

/**
 * Returns true when one name has all words of the other, as initials too, when a given name agrees and further ones do not
 * differ, or when a further word agrees beside those that are equal. In a name that is not divided no word is known to be a given
 * name.
 */
function haveLikeNames(one: PersonOfRecord, other: PersonOfRecord): boolean {
  if (COUPLE.test(one.name) || COUPLE.test(other.name)) return false;
  const ours = [...wordsOfName(one)];
  const theirs = [...wordsOfName(other)];
  const isShort = ours.length === 0 || theirs.length === 0;
  const equal = takeLike(ours, theirs, (level) => level === 'equal' || level === 'sound');
  if (isShort || ours.length === 0 || theirs.length === 0) return true;
  const areGiven = equal.some(
    ([a, b]) => a.text.length > 1 && isGiven(a, one) && isGiven(b, other),
  );
  // Brothers may all be `Mohamed`, and sisters `Maria`.
  const areFurther =
    ours.some((word) => isGiven(word, one)) && theirs.some((word) => isGiven(word, other));
  if (areGiven && !areFurther) return true;
  const isLike = takeLike(ours, theirs, (level) => likeWords.has(level)).length > 0;
  return isLike && (equal.length > 0 || ours.length === 0 || theirs.length === 0);
}

/** Removes the words that are so related from both lists; returns them in pairs. */
function takeLike(
  ours: NameWord[],
  theirs: NameWord[],
  isLike: (level: WordLevel) => boolean,
): [NameWord, NameWord][] {
  const pairs: [NameWord, NameWord][] = [];
  for (const word of [...ours]) {
    const index = theirs.findIndex((found) => isLike(relateWords(word, found)));
    if (index === -1) continue;
    pairs.push([word, ...theirs.splice(index, 1)] as [NameWord, NameWord]);
    ours.splice(ours.indexOf(word), 1);
  }
  return pairs;
}

function isGiven(word: NameWord, { name, surname }: PersonOfRecord): boolean {
  return surname !== '' && nameWords(fold(name)).some(({ text }) => text === word.text);
}

/** Apart, where they are: `Ben` and `Earl` are given names, though before others a particle and a title. */
function wordsOfName(person: PersonOfRecord): readonly NameWord[] {
  const { name, surname } = person;
  if (name === '' || surname === '') return nameWords(wholeName(person));
  return [...nameWords(fold(name)), ...nameWords(fold(surname))];
}

const nameWords = remember((text): readonly NameWord[] => {
  const name = readPersonName(text, true);
  return typeof name === 'string' ? [] : name.words;
}, NAMES_KEPT);
