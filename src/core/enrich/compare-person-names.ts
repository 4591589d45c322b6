/**
 * Compares two spellings of a person's name. A name is a bag of words, because sources disagree on their order and
 * on which of them is the family name:
 * 1. Case, accents, punctuation and honorifics do not count; `Müller` is `Mueller`.
 * 2. Two words in common agree, when the family name is among them or one spelling has no other words. One word in
 * common agrees with a matching initial or short form (`M. Masango`, `Dan Blue`), or when it is all of one
 * spelling and the family name.
 * 3. Nothing in common, not even the beginning of a word, disagrees. Everything between, other scripts and single
 * words are unknown.
 */

import { fold } from '../lib/fold.ts';
import { toNormalForm } from '../lib/normal-form.ts';
import { isOfName, joinLostLetters } from '../match/person-name.ts';
import type { Agreement } from './outcomes.ts';

/** Words next to a name that are not part of it. */
const honorifics: ReadonlySet<string> = new Set(
  `mr mrs ms miss mx dr prof professor sir dame rev reverend hon honourable
   honorable rt mp mep mla mpp msp ld jr sr ii iii iv phd md mba esq shri smt sri dato datuk ing
   dipl mag herr frau mme mlle monsieur madame sra srta dona sig dott dottssa avv gen col
   capt senator sen rep obe mbe cbe kbe qc kc cpa pe`.split(/\s+/),
);

/** Words that many family names share, so that they are no evidence. */
const particles: ReadonlySet<string> = new Set(
  `de da do das dos del della di du la le les el al bin ibn binti van von der den ter ten zu
   y e i und`.split(/\s+/),
);

/** Words in a name column that name no person. */
const nonPersonWords: ReadonlySet<string> = new Set(
  `unknown not available provided none no name na n a null nil tbd tbc test anonymous info
   information sales team office reception front desk account accounts payable receivable support
   service
   services customer client department dept admin administration marketing enquiries inquiries
   contact general manager hr human resources human press media help it mailbox shared`.split(
    /\s+/,
  ),
);

const NAME_CHARACTERS_MAX = 200;
const SHORT_FORM_MIN = 3;
const SIMILAR_MIN = 5;

/**
 * Compares a listed name with a stored one, whose family name is known; null when there is nothing to compare (one
 * is missing, not a name, or in another script). Pure and total.
 */
export function comparePersonNames(
  listed: string,
  given: string,
  family: string,
): Agreement | null {
  if (given !== '' && family !== '' && isSameText(listed, given, family)) return 'yes';
  const ours = nameWords(listed);
  const theirs = nameWords(`${given} ${family}`);
  if (ours.length === 0 || theirs.length === 0) return null;
  const verdict = compareWords(ours, theirs, family);
  if (verdict === 'yes' || haveSameLetters(ours, theirs)) return 'yes';
  if (ours.every((word) => nonPersonWords.has(word))) return null;
  return isLatin(ours) && isLatin(theirs) ? verdict : null;
}

/** Compares the two usual orders in any case, without folding. */
function isSameText(listed: string, given: string, family: string): boolean {
  const length = given.length + family.length;
  const longer = listed.length - length;
  if (longer !== 1 && longer !== 2) return false;
  const lower = listed.toLowerCase();
  if (longer === 2) return lower === `${family}, ${given}`.toLowerCase();
  return lower === `${given} ${family}`.toLowerCase();
}

/** Returns the words of a name; none when the text does not name a person. */
function nameWords(text: string): string[] {
  if (text === '' || text.length > NAME_CHARACTERS_MAX || /[@\d]/.test(text)) return [];
  const words = foldName(text).split(' ');
  const named = words.filter((word) => word !== '' && !honorifics.has(word));
  const telling = named.filter((word) => !particles.has(word));
  return telling.length > 1 ? telling : named;
}

function foldName(text: string): string {
  return toNormalForm(fold(joinLostLetters(text)).replaceAll("'", ''), 'NFKC').replace(
    /[^\p{L}\p{M}]+/gu,
    ' ',
  );
}

function isLatin(words: readonly string[]): boolean {
  return words.every((word) => !/[^a-z]/.test(word) || /\p{Script=Latin}/u.test(word));
}

function compareWords(
  ours: readonly string[],
  theirs: readonly string[],
  family: string,
): Agreement {
  const left = [...theirs];
  const rest: string[] = [];
  const shared: string[] = [];
  for (const word of ours) {
    const index = word.length === 1 ? -1 : left.findIndex((other) => isSameWord(word, other));
    if (index === -1) rest.push(word);
    else shared.push(...left.splice(index, 1));
  }
  if (rest.length === 0 && left.length === 0) return 'yes';
  const names = nameWords(family);
  // Beside a whole given name, an initial is that of another: `M. Christian Adler` may not be Michael Adler.
  const isSpelled = shared.length === 1 && rest.some((word) => word.length > 1 && isOfName(word));
  const telling = rest.filter((word) => word.length > 1 || !isSpelled || left.includes(word));
  const fitting = countShortForms(telling, left, names);
  if (shared.length === 0) return isAgainst(ours, theirs, fitting) ? 'no' : 'unknown';
  if (shared.length === 1 && fitting > 0) return 'yes';
  const isOneWhole = rest.length === fitting || left.length === fitting;
  if (shared.length > 1 && isOneWhole) return 'yes';
  if (shared.length === 1 && !isOneWhole) return 'unknown';
  return shared.some((word) => names.includes(word)) ? 'yes' : 'unknown';
}

/**
 * Counts the words of one name that are initials or short forms of words of the other. Family names have no short forms: `John`
 * is none of `Johnson`.
 */
function countShortForms(
  ours: readonly string[],
  theirs: readonly string[],
  familyNames: readonly string[],
): number {
  const left = [...theirs];
  let fitting = 0;
  for (const word of ours) {
    const index = left.findIndex(
      (other) =>
        (word.length === 1 || !familyNames.includes(other)) &&
        (isShortForm(word, other) || isShortForm(other, word)),
    );
    if (index === -1) continue;
    fitting += 1;
    left.splice(index, 1);
  }
  return fitting;
}

function isShortForm(short: string, word: string): boolean {
  return (short.length === 1 || short.length >= SHORT_FORM_MIN) && word.startsWith(short);
}

/** One word may be a nickname or a stage name: only two full names can contradict each other. */
function isAgainst(ours: readonly string[], theirs: readonly string[], fitting: number): boolean {
  if (fitting > 0 || ours.length < 2 || theirs.length < 2) return false;
  const isSpelled = (word: string) => word.length > 1;
  if (!ours.some(isSpelled) || !theirs.some(isSpelled)) return false;
  return !ours.some((word) => theirs.some((other) => mayBeSame(word, other)));
}

/** Equal except for the spelling of umlauts and one typo in a long word. */
function isSameWord(a: string, b: string): boolean {
  if (a === b) return true;
  const first = a.charCodeAt(0) === b.charCodeAt(0);
  if (!first && a.charCodeAt(1) !== b.charCodeAt(1)) return false;
  if (withoutUmlauts(a) === withoutUmlauts(b)) return true;
  return a.length >= SIMILAR_MIN && b.length >= SIMILAR_MIN && isOneTypo(a, b);
}

function withoutUmlauts(word: string): string {
  return word.includes('e') ? word.replace(/([aou])e/g, '$1') : word;
}

/** One letter added, missing or replaced, or two swapped. */
function isOneTypo(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let from = 0;
  while (from < a.length && a[from] === b[from]) from += 1;
  const restA = a.slice(from);
  const restB = b.slice(from);
  if (restA.slice(1) === restB || restB.slice(1) === restA) return true;
  if (restA.slice(1) === restB.slice(1)) return true;
  return restA.slice(2) === restB.slice(2) && restA[0] === restB[1] && restA[1] === restB[0];
}

/** The beginnings that transcriptions of one name keep. */
function mayBeSame(a: string, b: string): boolean {
  return (
    a.length >= SHORT_FORM_MIN && b.length >= SHORT_FORM_MIN && a.slice(0, 3) === b.slice(0, 3)
  );
}

/** `Vander Woude` and `vanderwoude`: the same letters, divided differently. */
function haveSameLetters(ours: readonly string[], theirs: readonly string[]): boolean {
  if (ours.length === theirs.length) return false;
  if (ours.join('') === theirs.join('')) return true;
  return [...ours].sort().join('') === [...theirs].sort().join('');
}
