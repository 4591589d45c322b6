/**
 * The keys by which candidates of a row are found: a few for each record and each row, equal when the names may be
 * equal. What they miss is never matched; how names compare is a matter of the score.
 */

import type { CompanyName } from './company-words.ts';
import type { StoredName } from './compare-persons.ts';
import { hashKey, keyKinds, kindOfKey } from './hash-key.ts';
import { isInitial, isSyllabic, soundOf, soundOfRare } from './latin.ts';
import { fullNamesOf } from './nicknames.ts';
import { type NameWord, type PersonName, wordOf } from './person-name.ts';

const GIVEN_WORDS_MAX = 3;
const FAMILY_WORDS_MAX = 3;
const ROW_WORDS_MAX = 6;
/** Characters of a name without a space between family and given name. */
const UNDIVIDED_MAX = 6;

/** A word in all forms under which it may be found. */
function formsOf({ text, joined }: NameWord): string[] {
  return text === joined ? [soundOf(text)] : [soundOf(text), soundOf(joined)];
}

function givenForms({ text }: NameWord): string[] {
  return fullNamesOf(text).map(soundOf);
}

/** Key of a family name; its frequency is that of the name. */
export function familyKey(word: string): number {
  return hashKey('family', soundOf(word));
}

/** Key of a given name, for its frequency. */
export function givenKey(word: string): number {
  return hashKey('given', soundOf(word));
}

/** Key of a word of a company's name, for its frequency. */
export function companyWordKey(word: string): number {
  return hashKey('companyWord', word);
}

function pairKey(given: string, family: string): number {
  return hashKey('pair', `${given}:${family}`);
}

/** True for the key of a given name with a family name. */
export function isPairKey(key: number): boolean {
  return kindOfKey(key) === keyKinds.pair;
}

function employerKey(word: string, company: number): number {
  return hashKey('employer', `${company}:${word}`);
}

/** Returns the keys of a stored person. `companies` are the ids of present and past employers. */
export function personKeys(name: StoredName, companies: readonly number[]): Set<number> {
  const keys = new Set<number>();
  const also = name.also.map(wordOf);
  const given = [...name.given.slice(0, GIVEN_WORDS_MAX), ...also];
  const family = name.family.slice(-FAMILY_WORDS_MAX);
  const families = family.flatMap(formsOf);
  if (family.length > 1) families.push(soundOf(family.map(({ joined }) => joined).join('')));
  for (const word of families) keys.add(hashKey('family', word));
  for (const { text } of given) keys.add(givenKey(text));
  const fullNames = given.flatMap(givenForms);
  for (const first of fullNames) for (const last of families) keys.add(pairKey(first, last));
  // A person with one name, or with several that are all given names.
  if (family.length === 0) for (const { text } of given) keys.add(familyKey(text));
  for (const company of companies) {
    for (const word of families) keys.add(employerKey(word, company));
    for (const word of fullNames) keys.add(employerKey(word, company));
  }
  return keys;
}

/** Returns the keys of a row's name; `companies` are those that its company may be. */
export function personRowKeys(name: PersonName, companies: readonly number[]): Set<number> {
  const keys = new Set<number>();
  const words = name.words.slice(0, ROW_WORDS_MAX);
  for (const parts of divisionsOf(words)) addPersonRowKeys(keys, parts, companies);
  return keys;
}

/** The words, and those that a name without a space may consist of: `杨磊` is the family name `杨` and the given name `磊`. */
function divisionsOf(words: readonly NameWord[]): (readonly NameWord[])[] {
  const [{ text } = wordOf('')] = words;
  if (words.length !== 1 || text.length > UNDIVIDED_MAX || !isSyllabic(text)) return [words];
  const characters = [...text];
  return characters.map((_, at) =>
    [characters.slice(0, at), characters.slice(at)]
      .filter((part) => part.length > 0)
      .map((part) => wordOf(part.join(''))),
  );
}

function addPersonRowKeys(
  keys: Set<number>,
  words: readonly NameWord[],
  companies: readonly number[],
): void {
  const spelled = words.filter(({ text }) => !isInitial(text));
  for (const [at, word] of spelled.entries()) {
    const fullNames = givenForms(word);
    const forms = formsOf(word);
    for (const [otherAt, other] of spelled.entries()) {
      if (at === otherAt) continue;
      for (const given of fullNames) {
        for (const family of formsOf(other)) keys.add(pairKey(given, family));
      }
    }
    const next = spelled[at + 1];
    if (next !== undefined) forms.push(soundOf(word.joined + next.joined));
    if (companies.length === 0) for (const form of forms) keys.add(hashKey('family', form));
    for (const company of companies) {
      for (const form of forms) keys.add(employerKey(form, company));
      for (const form of fullNames) keys.add(employerKey(form, company));
    }
  }
}

const PAIR_WORDS_MAX = 4;
const SLIP_LETTERS = 9;
const SLIP_LETTERS_MIN = 5;
const ACRONYM_MIN = 2;
const ACRONYM_MAX = 8;

function acronymKey(acronym: string): number {
  return hashKey('company', `a:${acronym}`);
}

/** Longest first: long words are rare. */
function tellingWords({ words }: CompanyName): string[] {
  return [...new Set(words.map(soundOf))]
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
    .slice(0, PAIR_WORDS_MAX);
}

function addPairsOfWords(keys: Set<number>, longest: readonly string[]): void {
  for (let at = 0; at < longest.length; at++) {
    const word = longest[at] as string;
    for (let otherAt = at + 1; otherAt < longest.length; otherAt++) {
      const other = longest[otherAt] as string;
      keys.add(hashKey('company', word < other ? `p:${word}:${other}` : `p:${other}:${word}`));
    }
  }
}

export function wholeKey({ joined }: CompanyName): number {
  return hashKey('company', `e:${soundOfRare(joined)}`);
}

/** Adds the keys of a stored name of a company. */
export function addCompanyKeys(keys: Set<number>, name: CompanyName): void {
  const { words, whole } = name;
  const longest = addSharedKeys(keys, name);
  for (const all of [words, whole.split(' ')]) {
    const acronym = all.map((word) => word[0] ?? '').join('');
    if (acronym.length >= ACRONYM_MIN && acronym.length <= ACRONYM_MAX)
      keys.add(acronymKey(acronym));
  }
  if (words.length <= 2) {
    for (const word of longest) keys.add(hashKey('company', `w:${word}`));
  }
  for (const word of words) keys.add(companyWordKey(word));
}

/** Returns the keys by which a row's company is found. */
export function companyRowKeys(name: CompanyName): Set<number> {
  const { words, joined } = name;
  const keys = new Set<number>();
  const longest = addSharedKeys(keys, name);
  if (words.length === 1 && joined.length >= ACRONYM_MIN && joined.length <= ACRONYM_MAX) {
    keys.add(acronymKey(joined));
  }
  for (const word of longest) keys.add(hashKey('company', `w:${word}`));
  return keys;
}

/** Adds the keys that a stored name and that of a row have alike; returns the telling words of the name. */
function addSharedKeys(keys: Set<number>, name: CompanyName): string[] {
  const longest = tellingWords(name);
  keys.add(wholeKey(name));
  addPairsOfWords(keys, longest);
  addSlipKeys(keys, name);
  return longest;
}

/**
 * Adds keys that two names with one slip between them share: the beginning, and what is left of it without one letter
 * (the symmetric deletion of SymSpell, as for the words of lookups).
 */
function addSlipKeys(keys: Set<number>, { joined }: CompanyName): void {
  if (joined.length < SLIP_LETTERS_MIN) return;
  const start = `d:${joined.slice(0, SLIP_LETTERS)}`;
  keys.add(hashKey('company', start));
  for (let at = 'd:'.length; at < start.length; at++) keys.add(hashKey('company', start, at));
}
